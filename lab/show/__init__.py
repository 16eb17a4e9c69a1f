"""A trace, drawn three ways: text lanes, SVG lanes, and one self-contained HTML page.

`text`, `svg` and `html` each take the trace as a dict (schema lease-lab/trace/1) and give a string;
the same trace gives the same string, byte for byte. They know nothing of couriers that run.
"""
