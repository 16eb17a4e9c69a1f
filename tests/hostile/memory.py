"""Takes memory without end."""


def claim():
    taken = []
    while True:
        taken.append(bytearray(64 << 20))


def endure():
    taken = []
    while True:
        try:
            taken.append(bytearray(64 << 20))
        except MemoryError:
            taken.append(taken)
