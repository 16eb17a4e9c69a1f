"""amber's lease ends while it sends; blue does the job, and amber is stale.

A lease that ends does not call a request back. What amber hears is true, and too late all the same.
"""

from lab.stories import expect

PROMISE = "A courier whose lease is over changes nothing that its successor wrote."
HTTP = True


def play(stage):
    amber, blue = stage.amber, stage.blue
    stage.put()

    amber.begin("run_file")
    amber.go_to("answer")
    expect.at(amber, "7.3", "answer")

    stage.tick(1000)  # the lease is over, the request is still under way
    blue.begin("run_file")
    blue.finish()
    expect.returned(blue, "4.4", {"id": "snack-1", "token": 2, "status": "done"})
    expect.job(stage, "5.3", status="done", token=2)
    written = stage.queue.job()

    amber.finish()  # now amber hears: taken
    expect.job(stage, "5.2", **written)
    expect.returned(amber, "7.8", {"id": "snack-1", "token": 1, "status": "stale"})
    expect.receiver(stage, "R.2", requests=2, inbox=1, effects=1)
