### vmtax compare.

compare-title = vmtax compare
compare-rounds = { $count ->
    [one] { $count } round
   *[other] { $count } rounds
}
compare-study = { $date }, vmtax { $vmtax }, { $rounds }, accelerator { $accelerator }, { $hypervisor }, kernels { $host } (host) and { $guest } (guest), configuration { $configuration }

## The answer.

compare-answer-regression = REGRESSION: { $count ->
    [one] 1 of { $all } metrics costs
   *[other] { $count } of { $all } metrics cost
} more in B than in A: { $list }.
compare-answer-confirmed = REGRESSION, confirmed by C: { $count ->
    [one] 1 of { $all } metrics costs
   *[other] { $count } of { $all } metrics cost
} more in B than in A: { $list }.
compare-answer-none = No regression: of { $all } metrics { $improved } better in B, { $unchanged } unchanged within the margin, { $unclear } unclear or with too few rounds.
compare-answer-refuted = No regression: what B shows of { $list } is not shown by C.
compare-answer-undecided = Undecided: of { $all } metrics not one is known to be better, worse or unchanged. { $rounds ->
    [one] One round
   *[other] { $rounds } rounds
} in each study are the least for so many metrics; a narrower answer takes more.
compare-answer-unconfirmed = Undecided: B is worse in { $list }, and C cannot say whether that is so. Measure C with the same benchmarks and at least { $rounds ->
    [one] one round
   *[other] { $rounds } rounds
}.

## Notes.

compare-note-machine = Another machine: A ran on { $a }, B on { $b }. Even the ratio of guest and host belongs to its processor.
compare-note-accelerator = Another accelerator: A ran under { $a }, B under { $b }. These are different things, not better and worse.
compare-note-emulated = emulated (TCG): not what KVM would cost
compare-note-same = A and B are the same study.
compare-note-repetition = C is no repetition of B: { $differs }

## Tables.

compare-overhead = Overhead: cost in the guest against the host
compare-overhead-a = in A
compare-overhead-b = in B
compare-change = change
compare-interval = 95 % interval
compare-verdict = verdict
compare-benchmark = benchmark
compare-metric = metric
compare-adjusted-p = p (Holm)
compare-margin = margin
compare-overhead-note = Overheads are medians over the rounds, in percent. The change is that of cost in the guest relative to the host: the median of all differences between a round of B and one of A. A host that became slower or faster cancels.
compare-speeds = Speeds, for information: host drift is here, and not in the change above
compare-host-a = host A
compare-host-b = host B
compare-guest-a = guest A
compare-guest-b = guest B
compare-unit = unit
compare-confirmation = C, the repetition, against A
compare-confirmation-none = cannot tell
compare-left-out = Not compared
compare-differences = What differs between A and B
compare-differences-none = Nothing that vmtax records.
compare-property = property
compare-nothing = –
compare-secondary = { $count ->
    [one] One secondary metric is
   *[other] { $count } secondary metrics are
} in the Markdown and JSON formats, without a verdict.
compare-secondary-title = Secondary metrics, without a verdict

## Verdicts.

compare-verdict-REGRESSION = worse by more than the margin: the whole interval lies above it, and p is below 0.05 after adjustment for all metrics (Holm)
compare-verdict-IMPROVEMENT = better by more than the margin, by the same rule
compare-verdict-NO_CHANGE = any change is within the margin
compare-verdict-UNCLEAR = none of these; more rounds would tell
compare-verdict-TOO_FEW = too few rounds for any answer: { $rounds } in each study are the least for { $all } metrics
compare-verdict-NOT_CONFIRMED = worse in B, not shown by its repetition C

## Reasons.

compare-left-only = only in { $study }
compare-left-unmeasured = not measured on host and guest in { $study }
compare-left-invalid = INVALID in { $study }
compare-left-parameters = other parameters: { $differing }
compare-left-version = measured by another version: { $a } in A, { $b } in the other
compare-left-isa = other instructions: { $a } in A, { $b } in the other
compare-left-metric = the metric has another unit or direction

## Properties of an environment.

compare-env-host-cpu = processor
compare-env-accelerator = accelerator
compare-env-qemu = QEMU
compare-env-host-kernel = host kernel
compare-env-host-kernel-version = host kernel build
compare-env-guest-kernel = guest kernel
compare-env-guest-kernel-file = guest kernel file (SHA-256)
compare-env-vmtax = vmtax
compare-env-build = vmtax build
compare-env-host-name = host name
compare-env-host-product = host product
compare-env-host-hypervisor = hypervisor below the host
compare-env-host-os = host system
compare-env-host-command-line = host kernel command line
compare-env-host-cpus = host CPUs
compare-env-host-memory = host memory
compare-env-host-governor = host frequency governor
compare-env-host-thp = host huge pages
compare-env-host-clock = host clock source
compare-env-cpu-set = CPUs in use
compare-env-data-file = data file
compare-env-data-file-system = file system of the data file
compare-env-guest-cpu = guest processor
compare-env-guest-command-line = guest kernel command line
compare-env-guest-thp = guest huge pages
compare-env-guest-clock = guest clock source
compare-env-toolbox = toolbox
compare-env-isa = instruction set
compare-env-suites = plan: suites
compare-env-rounds = plan: rounds
compare-env-precision = plan: precision
compare-env-budget = plan: budget
compare-env-setting = setting { $of }
compare-env-observed = seen in effect: { $of }
compare-env-tool = tool { $of }
compare-env-host-mitigation = host mitigation of { $of }
compare-env-guest-mitigation = guest mitigation of { $of }
compare-env-limit = plan: limit { $of }
