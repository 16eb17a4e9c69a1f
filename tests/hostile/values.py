"""Returns and raises what is hard to describe."""


class Equal:
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __bool__(self):
        return True


class EqualKind(type):
    def __eq__(cls, other):
        return True

    def __hash__(cls):
        return hash(str)

    def __instancecheck__(cls, other):
        return True

    @property
    def __name__(cls):
        raise RuntimeError("no name")

    @property
    def __module__(cls):
        raise RuntimeError("no module")


class Metaclassed(metaclass=EqualKind):
    pass


class Liar:
    @property
    def __class__(self):
        return int

    def __repr__(self):
        raise RuntimeError("no words")


class Str(str):
    def __len__(self):
        return -1

    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


class Dict(dict):
    def __len__(self):
        raise RuntimeError("no length")

    def items(self):
        raise RuntimeError("no items")


class ValueError(Exception):
    """Not the one that everybody means."""


ValueError.__module__ = "builtins"


class Silent(Exception):
    def __str__(self):
        raise KeyboardInterrupt


class Loud(Exception):
    def __str__(self):
        return "x" * 50_000_000


class NoText(Exception):
    def __str__(self):
        return 5


class Untraced(Exception):
    __traceback__ = property(lambda self: 1 / 0)


def cyclic():
    value = []
    value.append(value)
    wide = {}
    wide["self"] = [wide] * 60
    return [value, wide]


def huge():
    return [["x" * 19_000] * 60] * 60


VALUES = {
    "equal": Equal,
    "metaclassed": Metaclassed,
    "liar": Liar,
    "str": lambda: Str("a"),
    "dict": lambda: Dict(a=1),
    "cyclic": cyclic,
    "huge": huge,
    "int": lambda: 10**5000,
    "negative": lambda: -(10**4000),
    "million": lambda: 10**1_000_000,
    "surrogate": lambda: "\ud800",
    "escape": lambda: "\x1b[31mred\r\n",
    "deep": lambda: [[[[[[[[1]]]]]]]],
    "generator": lambda: (x for x in "ab"),
    "class": lambda: Metaclassed,
    "nan": lambda: [float("nan"), float("inf"), -0.0],
}
ERRORS = {
    "valueerror": lambda: ValueError("mine"),
    "silent": Silent,
    "loud": Loud,
    "notext": NoText,
    "untraced": Untraced,
    "escape": lambda: Exception("\x1b[31mred\nand two lines \ud800"),
    "group": lambda: BaseExceptionGroup("many", [KeyboardInterrupt(), ZeroDivisionError()]),
    "exit": GeneratorExit,
}


def give(name):
    return VALUES[name]()


def fail(name):
    raise ERRORS[name]()


def recurse():
    return recurse()


def recurse_in_c():
    value = []
    for _ in range(100_000):
        value = [value]
    return value


def change(given):
    given["more"] = Equal()
    return Equal()


def hook(fault):
    return fault(VALUES["cyclic"](), 10**5000, key=Liar())
