"""Three attempts fail; a redrive gives three more, but no old ticket fits.

The attempts begin anew, the token goes on: that is what tells the two lives of the job apart.
"""

from lab.stories import expect

PROMISE = "A redrive is on record, renews the attempts, and lets the token go on."
HTTP = False


def play(stage):
    amber, blue = stage.amber, stage.blue
    stage.put()

    for _ in range(3):
        amber.begin("run_file")
        amber.go_to("send")
        expect.at(amber, "7.3", "send")
        amber.go(error="Retryable")
        amber.finish()
        stage.tick(1000)  # longer than any retry waits
    expect.job(stage, "5.4", status="dead", reason="exhausted", attempts=3, token=3)

    blue.begin("redrive")
    blue.finish()
    expect.returned(blue, "6.3", True)
    expect.redrives(stage, "6.3", {"id": "snack-1", "token": 3, "at_ms": 4000, "note": "again"})
    expect.job(stage, "6.4", status="pending", attempts=0, token=3)

    amber.begin("run_file")
    amber.go_to("send")
    expect.at(amber, "4.4", "send")
    amber.go(error="KeyboardInterrupt")  # amber breaks off: the job stays leased
    expect.job(stage, "0.10", status="leased", owner="amber", attempts=1, token=4)
    leased = stage.queue.job()

    amber.begin("finish")  # with the ticket of amber's first claim: token 1, attempt 1
    amber.finish()
    expect.job(stage, "5.2", **leased)
    expect.returned(amber, "5.2", False)
