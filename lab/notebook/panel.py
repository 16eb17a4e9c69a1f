"""The desk's buttons: an ipywidgets panel over `lab.notebook.desk`.

After each press the lanes, the tables and the schedule are drawn anew. Knows nothing of what a
press does on the stage.
"""

import atexit

from lab.calls import CALLS
from lab.notebook import output
from lab.notebook.desk import FAULTS, Desk

PRESSES = (  # (method of Desk, label, what it does)
    ("next", "next", "start the call, or go on one step"),
    ("to_hook", "to the next hook", "go on until it stands before a hook"),
    ("to_send", "to the send", "go on until it is about to send"),
    ("to_end", "to the end", "go on to the end of the call"),
)
COLOURS = {"amber": ("#f0a202", "#1b1c20"), "blue": ("#1f5fd6", "#ffffff")}
KILL = ("#b3161b", "#ffffff")
TICKS = (50, 1000)
_open = []


def open_desk(worker):
    """Show the desk for a worker file, with buttons where somebody can press them; return it."""
    while _open:  # the cell is run again
        _open.pop().close()
    made = Desk(worker)
    _open.append(made)
    if output.front_end():
        from IPython.display import display

        display(Panel(made).box)
    else:
        output.show("<p>Here are the buttons, in a browser.</p>", "Here are the buttons.")
    return made


@atexit.register
def _close_all():
    while _open:
        _open.pop().close()


class Panel:
    """The widgets of one Desk; `box` is what to display."""

    def __init__(self, made):
        import ipywidgets

        self.desk, self.widgets = made, ipywidgets
        self.said = ipywidgets.HTML()
        self.lanes, self.state = ipywidgets.HTML(), ipywidgets.HTML()
        self.lanes.layout.width = "66%"
        self.state.layout.width = "34%"
        self.state.layout.padding = "0 0 0 14px"
        self.schedule = ipywidgets.HTML()
        self.fault = ipywidgets.Dropdown(options=list(FAULTS), layout=self._wide("330px"))
        self.fault.observe(self._set_fault, "value")
        self.pasted = ipywidgets.Text(
            placeholder="paste a schedule, then press: play it", layout=self._wide("auto", "1")
        )
        self.pasted.add_class("lease-paste")
        row = ipywidgets.HBox
        self.box = ipywidgets.VBox(
            [
                *(row(self._courier(name)) for name in made.stage.couriers),
                row(self._stage()),
                self.said,
                row([self.lanes, self.state]),
                self.schedule,
                row([self.pasted, self._button("play it", self._play, "play", "100px")]),
            ]
        )
        self.box.add_class("lease-desk")
        made.watcher = self.update
        self.update()

    def _wide(self, width, flex=None):
        return self.widgets.Layout(width=width, flex=flex)

    def _button(self, label, on, name, width="150px", hint=""):
        button = self.widgets.Button(
            description=label, tooltip=hint or label, layout=self._wide(width)
        )
        button.add_class(f"lease-{name}")
        button.on_click(lambda _: self._press(on))
        return button

    def _courier(self, name):
        ground, ink = COLOURS[name]
        calls = self.widgets.Dropdown(
            options=list(CALLS), value=self.desk.calls[name], layout=self._wide("110px")
        )
        calls.observe(lambda change: self.desk.calls.update({name: change["new"]}), "value")
        buttons = [calls]
        for method, label, hint in PRESSES:
            press = getattr(self.desk, method)
            button = self._button(
                f"{name}: {label}" if method == "next" else label,
                lambda press=press: press(name),
                f"{name}-{method}",
                hint=f"{name}: {hint}",
            )
            button.style.button_color, button.style.text_color = ground, ink
            button.style.font_weight = "bold"
            buttons.append(button)
        kill = self._button("kill -9", lambda: self.desk.kill(name), f"{name}-kill", "90px")
        kill.style.button_color, kill.style.text_color = KILL
        kill.tooltip = f"kill {name}'s process, wherever it stands"
        return [*buttons, kill]

    def _stage(self):
        desk, button = self.desk, self._button
        ticks = [
            button(f"+{ms} ms", lambda ms=ms: desk.tick(ms), f"tick-{ms}", "90px") for ms in TICKS
        ]
        receiver = self.widgets.HTML("<span>&nbsp; the receiver, of the next request:</span>")
        return [
            button("put a job", desk.put, "put", "100px"),
            *ticks,
            button("begin anew", desk.fresh, "fresh", "110px"),
            receiver,
            self.fault,
        ]

    def _set_fault(self, change):
        self.desk.fault = change["new"]

    def _play(self):
        self.desk.play(self.pasted.value)

    def _press(self, on):
        try:
            on()
        except Exception as error:  # an instructor's press must never be answered by silence
            self.desk.said = f"{type(error).__name__}: {error}"
        self.update()

    def update(self):
        """Draw everything anew."""
        desk = self.desk
        self.fault.value = desk.fault
        said, counts = output.safe(desk.said), output.safe(desk.counts())
        self.said.value = self._html(f'<div class="said">{said}<br><b>{counts}</b></div>')
        self.lanes.value = output.image(desk.lanes())
        self.state.value = self._html(f'<div class="tight">{desk.state()}</div>')
        self.schedule.value = self._html(
            f'<pre class="schedule">{output.safe(desk.schedule or "(nothing yet)")}</pre>'
        )

    def _html(self, inside):
        return f'{output.STYLE}<div class="lease">{inside}</div>'
