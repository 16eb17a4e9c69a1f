"""amber and blue claim at the same moment; only one of them gets the job.

amber has chosen and changed the row but not committed when blue tries: blue must not choose yet.
"""

from lab.stories import expect

PROMISE = "Of two couriers that claim a job at once, one gets it and one nothing."
HTTP = False


def play(stage):
    amber, blue = stage.amber, stage.blue
    stage.put()

    amber.begin("claim")
    blue.begin("claim")
    amber.go_to("after-claim")  # the row is changed, and not committed
    expect.at(amber, "4.8", "after-claim")
    blue.finish()
    expect.waiting(blue, "0.6")

    amber.finish()
    blue.finish()
    expect.job(stage, "4.9", status="leased", owner="amber", token=1, attempts=1)
    expect.returned(blue, "4.9", None)
