"""The answer to amber's request is lost; the retry does not do it twice.

A time-out does not mean that nothing was done. So amber must send again, and may.
"""

from lab.stories import expect

PROMISE = "A job whose answer was lost is sent again, and has one effect."
HTTP = True


def play(stage):
    amber, blue = stage.amber, stage.blue
    stage.put()

    amber.begin("run_file")
    amber.go_to("answer")
    expect.at(amber, "7.3", "answer")
    expect.receiver(stage, "R.1", requests=1, inbox=1, effects=1)
    amber.go(error="Retryable")  # what a time-out comes to
    amber.finish()
    expect.returned(amber, "7.5", {"id": "snack-1", "token": 1, "status": "pending"})
    expect.job(stage, "5.4", status="pending", reason="retry", available_at=1050)

    stage.tick(50)  # 100 ms for the first attempt, times a jitter of 0.5
    blue.begin("run_file")
    blue.finish()
    expect.returned(blue, "4.4", {"id": "snack-1", "token": 2, "status": "done"})
    expect.job(stage, "5.3", status="done", token=2, attempts=2)
    expect.receiver(stage, "R.2", requests=2, inbox=1, effects=1)
