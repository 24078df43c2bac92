### vmtax selftest. Every message fits into 80 columns of a terminal, with its arguments.

selftest-title-aa = vmtax { $version } · self-test A/A · { $date } · { $rounds } of { $planned } rounds
selftest-title-injected = vmtax { $version } · self-test, injected · { $date } · { $rounds } of { $planned } rounds
selftest-emulated = Guests are emulated (TCG): their noise is not what KVM would show.
selftest-about-aa = The same against itself: every difference that is found is a false alarm.
selftest-about-injected = Work is made longer by a known percentage: what was put in must come out.
selftest-pair = { $base } against { $other }

selftest-excludes = not 0
selftest-beyond = beyond
selftest-overall = overall
selftest-interval = 95 % interval
selftest-floor = floor
selftest-runs = runs
selftest-injection = injected
selftest-recovered = recovered
selftest-bias = bias, points
selftest-bias-limit = limit
selftest-contained = contained

selftest-legend-excludes = not 0: groups of eight rounds whose interval excludes 0, of all groups
selftest-legend-beyond = beyond: groups whose verdict is a difference beyond the practical margin
selftest-legend-overall = overall: what all rounds together show, with its interval
selftest-legend-floor = floor: the smallest difference that eight rounds can show here (median ±)
selftest-legend-runs = runs: spread of single runs (robust CV) of the less steady machine
selftest-legend-contained = contained: groups of eight rounds whose interval contains the injection
selftest-legend-bias = bias: recovered minus injected; limit: 0.2 points and the standard error
selftest-dropped = { $blocks } blocks of { $benchmark } on { $machine } do not count (not measured, or INVALID)

selftest-rate-excludes = Intervals that exclude 0: { $rate }
selftest-rate-beyond = Verdicts beyond the margin: { $rate }
selftest-rate-contains = Intervals that contain the injection: { $rate }
selftest-rate-most = { $count } of { $all } = { $share }, at most { $limit }
selftest-rate-least = { $count } of { $all } = { $share }, at least { $limit }
selftest-error = Standard error as groups differ (their verdicts go together): { $errors } points
selftest-canaries = Canary (spin loop), worst distance of a visit from its machine's median:
selftest-canary = { $machine } { $change }

selftest-pass-aa = PASS: vmtax cries wolf on this machine no more often than it should.
selftest-fail-aa = FAIL: false alarms are too frequent on this machine; see docs/selftest.md.
selftest-pass-injected = PASS: known overheads are recovered on this machine.
selftest-fail-injected = FAIL: known overheads are not recovered well enough; see docs/selftest.md.
selftest-too-few = TOO FEW ROUNDS: not judged; { $groups } of { $least } groups of eight (rounds: { $needed }).
