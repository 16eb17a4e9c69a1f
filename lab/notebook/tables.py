"""A stage's state as tables: the jobs, the receiver's inbox, and who holds what.

Knows nothing of how the state came about.
"""

from lab.notebook import output
from lab.show import text

JOB = ("id", "status", "owner", "token", "attempts", "lease_until")
INBOX = ("id", "qty", "request")


def state(now):
    """Return a state, as a trace has it, as (HTML, text)."""
    parts, lines = [], []
    for name, columns in (("jobs", JOB), ("inbox", INBOX)):
        rows = [{column: row[column] for column in columns} for row in now[name]]
        parts += [f'<div class="head">{name}</div>', output.table(rows) if rows else "<p>empty</p>"]
        lines += [name, text.table(rows, 100)]
    if now["redrives"]:
        parts += ['<div class="head">redrives</div>', output.table(now["redrives"])]
        lines += ["redrives", text.table(now["redrives"], 100)]
    facts = {
        "clock": now["clock"],
        "write lock": now["lock"] or "nobody",
        "requests": now["requests"],
        "effects": now["effects"],
    }
    parts.append(output.table([facts]))
    lines.append(", ".join(f"{name} {value}" for name, value in facts.items()))
    return "".join(parts), "\n".join(lines)


def card(now):
    """Return a state, as a trace has it, as HTML that fits into a column beside the lanes."""
    facts = [str(now["clock"]), output.named(now["lock"] or "nobody")]
    facts += [str(now["requests"]), str(now["effects"])]
    parts = [output.table([facts], ["clock", "write lock", "requests", "effects"])]
    rows = [
        [
            f"<nobr>{output.safe(row['id'])}</nobr>",
            output.safe(row["status"] if row["status"] != "dead" else f"dead: {row['reason']}"),
            output.named(row["owner"]),
            str(row["token"]),
            output.safe(row["lease_until"]),
        ]
        for row in now["jobs"]
    ]
    heads = ["job", "status", "owner", "token", "until"]
    parts.append(output.table(rows, heads) if rows else "<p>no job in the queue</p>")
    rows = [[output.safe(row["id"]), str(row["qty"])] for row in now["inbox"]]
    parts.append(output.table(rows, ["inbox", "qty"]) if rows else "<p>nothing in the inbox</p>")
    return "".join(parts)
