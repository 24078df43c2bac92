### The Markdown report.
markdown-study = vmtax { $version } · { $date } · { $rounds ->
    [one] 1 round
   *[other] { $rounds } rounds
} · { $accelerator }
markdown-emulated = emulated (TCG): not what KVM would cost
markdown-benchmark = Benchmark
markdown-host = Host
markdown-guest = Guest
markdown-overhead = Overhead
markdown-interval = 95 % interval
markdown-verdict = Verdict
markdown-flags = Flags
markdown-not-measured = not measured
markdown-all-cpu = all CPU
markdown-all-memory = all memory
markdown-all-disk = all disk
markdown-checks = Checks that did not pass:
markdown-status = Status
markdown-check = Check
markdown-where = Where
markdown-seen = Seen
markdown-evidence = Worst evidence
