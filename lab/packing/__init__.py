"""Archives of the kit for other people and other engines: students, Gradescope, GitHub.

What is put into each lies beside this file, in a folder of its name.
"""
