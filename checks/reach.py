"""How far a change in a worker reaches: the first step whose functions could tell.

A mutant whose change the functions of earlier steps do not reach does there what its correct base
does; so those steps need not be run again on it. Knows nothing of what a change does.
"""

import ast

FUNCTIONS = (  # of each step, from step 1 on
    ("retry_delay", "Conflict", "Retryable", "Permanent", "BadAck"),
    ("open_queue",),
    ("enqueue",),
    ("claim",),
    ("finish",),
    ("redrive",),
    ("run_once",),
    ("run_file",),
)
ALWAYS = ""  # stands for what happens when the file is loaded, whoever is called


def first_step(before, after):
    """Return the first step, 1 to 8, whose functions reach what differs between two sources.

    Names count as uses wherever they stand, so this may be too early, and never too late.
    """
    (old, old_uses), (new, new_uses) = survey(before), survey(after)
    changed = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    for step, functions in enumerate(FUNCTIONS, 1):
        for uses in (old_uses, new_uses):
            if changed & reached({ALWAYS, *functions}, uses):
                return step
    return len(FUNCTIONS)


def survey(source):
    """Return a module's top-level statements, as text without positions, and the names they use.

    Both by the names that the statements bind: {name: [text]}, {name: {name}}.
    """
    texts, uses = {}, {}
    for statement in ast.parse(source).body:
        nodes = list(ast.walk(statement))
        used = {node.id for node in nodes if isinstance(node, ast.Name)}
        used |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        for name in binds(statement, nodes):
            texts.setdefault(name, []).append(ast.dump(statement))
            uses.setdefault(name, set()).update(used)
    return texts, uses


def binds(statement, nodes):
    """Return the names that a top-level statement binds; ALWAYS if it may do more than that."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).partition(".")[0] for alias in statement.names]
    if isinstance(statement, ast.Assign) and not any(isinstance(n, ast.Call) for n in nodes):
        names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
        if len(names) == len(statement.targets):
            return names
    return [ALWAYS]


def reached(names, uses):
    """Return names and all that they use, directly or not."""
    found, left = set(names), list(names)
    while left:
        new = uses.get(left.pop(), set()) - found
        found |= new
        left += new
    return found
