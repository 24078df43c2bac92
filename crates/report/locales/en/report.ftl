### Reports.

## Small words
comma = {", "}
and = {" and "}
semicolon = {"; "}
colon = {": "}
range = {$low} to {$high} %
margin = {$margin} for {$areas}
machine-host = host
machine-guest = guest
area-cpu = CPU
area-memory = memory
area-disk = disk
count-cpus = {$n ->
    [one] 1 CPU
   *[other] {$n} CPUs
}
count-vcpus = {$n ->
    [one] 1 vCPU
   *[other] {$n} vCPUs
}
count-rounds = {$n ->
    [one] 1 round
   *[other] {$n} rounds
}
count-runs = {$n ->
    [one] 1 run
   *[other] {$n} runs
}
count-benchmarks = {$n ->
    [one] 1 benchmark
   *[other] {$n} benchmarks
}
count-queues = {$n ->
    [one] 1 queue
   *[other] {$n} queues
}
count-repeated = {$n ->
    [one] 1 round repeated
   *[other] {$n} rounds repeated
}
rounds-of = {$planned ->
    [one] {$done} of 1 round
   *[other] {$done} of {$planned} rounds
}
runs = {$measured ->
    [one] 1 run measured, {$failed} failed, {$skipped} skipped, {$cancelled} cancelled
   *[other] {$measured} runs measured, {$failed} failed, {$skipped} skipped, {$cancelled} cancelled
}
seed = seed {$seed}
folder = Study folder: {$folder}
yes = yes
no = NO
chosen = chosen benchmarks
this-machine = this machine

## The answer
answer = Compared with the host, the same work in this guest costs {$parts}{$caveat}.
answer-emulated = Compared with the host, the same work in this emulated guest costs {$parts}{$caveat}.
answer-caveat = {" "}(an indication, made from few rounds)
answer-comma = {", "}
answer-and = {" and "}
answer-same = the same for {$area} within {$figure}
answer-range = anything from {$figure} for {$area}
answer-times = {$figure} times as much for {$area}
answer-more = {$figure} more for {$area}
answer-less = {$figure} less for {$area}
answer-refused = What was measured is no figure of the disk, so there is no answer.
answer-none = Nothing was measured on both sides, so there is no answer yet.

## Notes on a study
note-emulated = emulated (TCG): not what KVM would cost
note-not-accelerated = The plan says KVM, and QEMU says that KVM was not in use.
note-host-is-vm = The host is itself a VM ({$hypervisor}): the guest is nested, and the figures are not those of bare metal.
note-setting = Setting {$key} was asked to be {$asked} and was seen to be {$seen}.
note-mixed-builds = {$builds} different builds of vmtax measured parts of this study.
note-indicative = INDICATIVE: made from {$rounds} rounds; eight make a study.
note-point-only = {$rounds ->
    [one] POINT ONLY: made from 1 round; three give an interval.
   *[other] POINT ONLY: made from {$rounds} rounds; three give an interval.
}
note-host-page-cache = The host's page cache served disk work of the guest: such rows are no figures of the disk and have no part in summaries.
note-different-kernels = Host and guest run different kernels: {$host} and {$guest}.
note-session = {$text}

## Flags on a benchmark
flag-host-page-cache-name = host page cache
flag-host-page-cache-text = QEMU moved only {$share} of the bytes that the guest's tool moved: the host's page cache served the rest, so this is no figure of the disk.
flag-meaning = {$name}: {$text}
flag-host-page-cache-short = host page cache: QEMU moved fewer bytes than the guest's tool
flag-blocks-rejected-name = blocks rejected
flag-blocks-rejected-text = Checks rejected {$share} of the blocks, which is more than the limits allow: what is left may be a choice of lucky rounds.
flag-different-kernels-name = different kernels
flag-different-kernels-text = The kernel does this work, and host and guest run different kernels: the figure holds their difference too.
flag-indicative-name = INDICATIVE
flag-indicative-text = Three to seven rounds: the interval is Student's t, which is too narrow where only one side has a tail. Eight rounds make a study.
flag-tail-shift-name = tail
flag-tail-shift-text = The geometric mean is further from the typical overhead than half of the interval: one side has rare slow runs, which the typical overhead does not show.
flag-repeated-values-name = repeated values
flag-repeated-values-text = At least half of the rounds have exactly the value of another one: the tool rounds its figures, or rounds were entered twice.

## Verdicts
verdict-overhead = slower by more than the margin
verdict-faster-than-host = faster by more than the margin
verdict-equivalent = any difference is within the margin
verdict-small = a difference, maybe within the margin
verdict-inconclusive = not known yet
verdict-imprecise = too wide an interval, and more rounds than are allowed would be needed
verdict-invalid = the figure is not what it claims to be
verdict-meaning = {$verdict}: {$meaning}
verdict-key = {$meanings}. Margin: {$margins}.

## Terminal
text-host = host
text-guest = guest
text-by = by
host-line = {$cpu}, {$cpus}, {$memory}, {$system}, kernel {$kernel}
guest-line = {$cpus}, {$memory}, {$machine}, configuration {$configuration}, kernel {$kernel}
by-kvm = accelerator kvm: the CPU runs the guest's instructions
by-tcg = accelerator tcg: QEMU emulates every instruction of the guest
table-host = host
table-guest = guest
table-overhead = overhead
table-interval = 95 % interval
table-verdict = verdict
not-measured = NOT MEASURED
all-of-area = all {$area}
some-of-area = all {$area} ({$used} of {$all})
text-validity = Validity
blocks-dropped = {$dropped ->
    [one] 1 of {$all} blocks was dropped: it has no part in any figure.
   *[other] {$dropped} of {$all} blocks were dropped: they have no part in any figure.
}
checks-passed = {$passed ->
    [one] 1 kind of check passed (PASS)
   *[other] {$passed} kinds of checks passed (PASS)
}, {$unknown} could not be read (UNKNOWN)
finding = {$title}{$where}: {$evidence}
finding-where = {" "}({$where})
text-precision = Precision
precision-reached = {$reached} of {$all} primary metrics are as precise as was asked for
precision-open = {$what}: {$half}, target {$target}
precision-forecast = {$what}: {$half}, target {$target}: about {$forecast} rounds in all would reach it
text-tax = Where the tax goes: CPU time on the physical host for the same work
tax-factor = guest/host
tax-vcpu = vCPU
tax-io = I/O
tax-other = other
text-remarks = What the tools remarked
text-troubles = What did not work
cut-off = it was cut off
round-not-used = round {$round} (attempt {$attempt}) is not used: {$why}
trouble = {$n ->
    [one] {$benchmark} on {$machine}, round {$rounds}: {$kind}: {$why}
   *[other] {$benchmark} on {$machine}, rounds {$rounds}: {$kind}: {$why}
}
more = and {$n} more (in the HTML and JSON reports)

## How runs and studies end
trouble-tool = tool failed
trouble-parse = output unreadable
trouble-guest = guest died
trouble-pipe = pipe broke
trouble-timeout = timeout
trouble-harness = vmtax failed
trouble-skipped = skipped
ending-finished = The study is finished.
ending-budget = The time budget was used up.
ending-interrupted = The study was stopped.
ending-failed = The study could not go on.
ending-none = The study has no end in its journal: it goes on, or was killed.
ending-why = {$ending} {$why}
look-precise = precise enough
look-more-rounds = more rounds
look-imprecise = IMPRECISE

## The page
page-title = What virtualization costs on {$host}
skip-to-results = Skip to the results
nav = Sections
run-by = Run by
study = Study
h-overhead = Overhead
h-validity = Validity
h-metrics = All metrics
h-latency = Latency
h-tax = Where the tax goes
h-details = Round by round
h-method = How it was measured
h-troubles = What did not work
h-machines = Machines
h-differences = What differs beside virtualization
h-environment = Host and guest
h-settings = Settings
h-files = Software
h-again = Reproduce and cite
lead-overhead = How much more the same work costs in the guest than on the host, with its 95 % interval. Right of the zero line the guest is slower. The scale is logarithmic.
key-one = one benchmark
key-all = geometric mean of its area
key-band = too small to matter (± {$margins})
nothing-compared = No benchmark was measured on both sides in a complete round.
left-out = {$left} of {$all} {$area} benchmarks are not in the summary, because they were not measured on both sides or are no figures of it: {$which}.
forest-spoken = {$label}: {$overhead}, 95 % interval {$interval}
lead-validity = What can make figures untrue was looked for in every run. INVALID drops the block, by rule and never by its value; WARN is something to know; UNKNOWN could not be read and is no pass.
what-to-do = What to do:
whole-study = whole study
in-round = round {$round}
col-status = Status
col-check = Check
col-evidence = Evidence
lead-metrics = Medians with their spread (1.4826 MAD) over the rounds. Overhead is about cost; for throughputs “of host” and “loss” say the same of speed: a loss of 50 % is an overhead of 100 %. The geometric mean shows rare stalls that the typical overhead hides.
col-benchmark-metric = Benchmark, metric
col-benchmark = Benchmark
col-metric = Metric
col-unit = Unit
col-host = Host
col-guest = Guest
col-overhead = Overhead
col-interval = 95 % interval
col-verdict = Verdict
col-of-host = Of host
col-loss = Loss
col-mean = Geo. mean
col-rounds = Rounds
col-geometric = Geometric mean
lead-latency = How long single operations took. The curves pool all operations of all rounds that are used; the further right, the rarer: each step adds a nine. The last column is the verdict's view: how a percentile of a typical run in the guest compares with that of its partner on the host.
latency-pooled = All operations pooled:
latency-operations = {$machine} {$operations} operations of {$runs}
latency-saturated = Some operations on the {$machine} took longer than the tool can tell apart; the end of its curve is a lower bound.
latency-missing = {$n ->
    [one] 1 histogram is missing or cannot be read ({$first}); its run has no part here.
   *[other] {$n} histograms are missing or cannot be read (first {$first}); their runs have no part here.
}
latency-spoken = {$title}: latency by percentile, host and guest; the table below has the figures
latency-percentile = {$percent} %
col-percentile = Percentile
col-typical = Typical run, overhead with 95 % interval
lead-tax = CPU time that the physical host spent on the same amount of work, done by a process of its own and done in the guest (all threads of QEMU). Each row has its own scale.
key-host = host
key-vcpu = guest: vCPU threads
key-io = guest: I/O threads
key-other = guest: main loop and other threads
col-work = Work
col-bars = host above, guest below
col-cpu-time = CPU time
col-factor = Guest / host
col-paired = Paired overhead, 95 %
col-other = Other
col-stolen = Stolen, host / guest
tax-spoken = {$title}: {$host} on the host, {$guest} in the guest for {$work}
lead-details = Every round of every benchmark in time order, its secondary metrics, its exact commands.
blocks-used = {$used} of {$all} blocks in complete rounds are used.
chart-title = {$metric} by round, {$unit}
chart-spoken = {$title}: every round of host and guest in {$unit}; the table below has the figures
chart-point = Round {$round}, {$machine}: {$value} {$unit}
chart-dropped = Round {$round} was dropped: {$why}
chart-thinned = {$shown} of {$all} rounds are drawn, evenly spread; all are in the JSON report.
key-dropped = dropped
dropped-failed = {$machine}: {$kind}
dropped-invalid = INVALID: {$threats}
dropped-no-value = no value on one side
as-table = The figures as a table
col-round = Round
col-attempt = Attempt
more-in-json = {$n} more are in the JSON report.
detail-precise = Precision: {$metric} is known to {$half} after {$rounds} rounds; {$target} was asked for.
detail-forecast = Precision: {$metric} is known to {$half} after {$rounds} rounds; {$target} was asked for, and about {$forecast} rounds would reach it.
detail-imprecise = Precision: {$metric} is known to {$half} after {$rounds} rounds; {$target} was asked for and not reached.
looks = Every look at its precision
col-blocks = Blocks
col-half-width = Half-width
col-target = Target
col-decision = What followed
col-forecast = Rounds in all, forecast
its-metrics = Its metrics
detail-parameters = Parameters
detail-score = Score per CPU-second
detail-score-text = host {$host}, guest {$guest} {$unit} by the CPU time that each machine counts itself
detail-score-overhead = overhead {$overhead} {$interval}
detail-qemu = at most {$resident} resident, {$switches} context switches for {$work}
detail-steal = CPU time stolen
detail-steal-machine = {$machine} {$mean} ({$worst} in the worst run)
command-on = Command on {$machine}
every-round = Every round, with the order of its blocks
col-state = State
col-order = Order
col-why = Why
col-machine = Machine
col-what = What
col-runs = Runs
attempt-used = used
attempt-repeated = repeated since
attempt-not-used = not used
lead-machines = As each machine sees itself; ≠ marks differences.
col-property = Property
lead-settings = Asked for, and seen in effect in the running guest. Sizes in bytes; a guest's kernel keeps some of its memory for itself.
col-setting = Setting
col-asked = Asked
col-observed = Observed
col-in-effect = In effect
cannot-be-seen = cannot be seen
col-role = Role
col-version = Version
col-path = Path
files-kernel = Guest kernel
files-toolbox = Toolbox
qemu-command = QEMU's command line
again-same = The same study with the same orders, on the same or another machine:
again-figures = All figures of this page can be computed again from the study folder with “vmtax report”; “--format json” has them all, unrounded. When you publish a figure, say how it was made:
cite = Measured by vmtax {$vmtax} (build {$build}), study of {$date}, {$rounds}, seed {$seed}.
cite-tools = Measured with {$tools} by vmtax {$vmtax} (build {$build}), study of {$date}, {$rounds}, seed {$seed}.
cite-emulated = Emulated (TCG).
footer = Made by vmtax {$vmtax} from the study folder alone.

## Method
method-rounds = Rounds
method-rounds-text = {$planned} planned, {$complete} complete and used, {$repeated} repeated. The guest is booted afresh in every round.
method-pairs = Pairs
method-pairs-text = In each block of a round the host and the guest take their turns in random order, seconds apart, and are compared with each other only. Blocks come in random order.
method-seed = Seed
method-seed-text = {$seed} gives the same orders again.
method-runs = Runs
method-overhead = Overhead
method-overhead-text = 100 (e^d − 1) percent, where d is the typical (Hodges-Lehmann) value of ln(cost in the guest / cost on the host) over the rounds. It is made from pairs, so it need not be the ratio of the two medians.
method-interval = Interval
method-interval-text = 95 %: from eight rounds on the exact Wilcoxon signed-rank interval, stretched for serial correlation; from three to seven Student's t interval of the mean, labelled INDICATIVE; below that none.
method-precision = Precision
method-precision-text = A benchmark is measured until its interval is narrow enough, whatever it says, or more rounds than are allowed would be needed (IMPRECISE). Every look is listed with its benchmark.
method-validity = Validity
method-validity-text = A block with an INVALID check is dropped whole, host and guest. No run is ever dropped for its value.
method-isa = Instruction set
method-isa-text = {$isa} on both sides, for the builtin workloads.
method-cpus = CPUs
method-cpus-text = Both sides were confined to the host's CPUs {$cpus}.
method-boots = Boots
method-boots-text = {$n ->
    [one] 1 boot; from starting QEMU to a guest that answers took {$median} (median), {$worst} at worst.
   *[other] {$n} boots; from starting QEMU to a guest that answers took {$median} (median), {$worst} at worst.
}
method-disk = Data disk
method-disk-text = {$file} on {$system}; host runs use the file that the guest has as its disk.
method-end = End
not-recorded = (not recorded)
unknown-file-system = a file system of unknown kind

## Properties of machines
fact-hostname = Host name
fact-product = Product
fact-os = Operating system
fact-kernel = Kernel
fact-kernel-version = Kernel version
fact-kernel-command-line = Kernel command line
fact-architecture = Architecture
fact-cpu-model = Processor
fact-cpu-vendor = Vendor
fact-cpu-flags = Number of CPU flags
fact-cpu-flags-of-one-side = CPU flags that the other lacks
fact-cpus = CPUs online
fact-cores = Cores
fact-numa-nodes = NUMA nodes
fact-instruction-set = Instruction set
fact-last-level-cache = Last-level cache
fact-hypervisor = Hypervisor seen
fact-governor = Frequency governor
fact-memory = Memory
fact-memory-available = Memory available
fact-clock-source = Clock source
fact-clock-sources = Clock sources
fact-clock-read = Cost of a clock read
fact-huge-pages = Transparent huge pages
fact-huge-pages-defrag = Huge page defrag
fact-io-uring = io_uring
fact-load-average = Load average
fact-io-scheduler = I/O scheduler
fact-read-ahead = Read-ahead
fact-disks = Disks
fact-mitigation = Mitigation of {$name}
io-uring-works = works
io-uring-refused = refused
disk-scheduler = scheduler {$name}
disk-read-ahead = read-ahead {$size}

## Settings
setting-vm-cpus = virtual CPUs
setting-vm-cpu-model = CPU model
setting-vm-memory = memory
setting-vm-machine = chipset
setting-disk-cache = cache mode
setting-disk-aio = how QEMU does I/O
setting-disk-queues = virtqueues
setting-disk-iothread = thread of its own

## Units of work
work-1-gib = 1 GiB
work-1-000-mwi = 1,000 MWI
work-1-000-i-os = 1,000 I/Os
work-1-m-loops = 1 M loops
work-1-m-operations = 1 M operations

## Benchmarks and metrics
bench-cpu-dhrystone = Dhrystone 2
bench-cpu-whetstone = Double-precision Whetstone
bench-cpu-file-copy = File copy 4096/8000
bench-cpu-canary = Canary
bench-memory-memcpy = MEMCPY
bench-memory-dumb = DUMB
bench-memory-mcblock = MCBLOCK
bench-disk-randread-4k = 4k random read
bench-disk-randwrite-4k = 4k random write
bench-disk-read-4k = 4k sequential read
bench-disk-write-4k = 4k sequential write
bench-disk-read-1m = 1m sequential read
bench-disk-write-1m = 1m sequential write
metric-cpu-whetstone-rate = Whetstone
metric-cpu-file-copy-rate = File copy
metric-time = Time
metric-best = Best pass
metric-iops = IOPS
metric-bandwidth = Bandwidth
metric-latency-mean = Completion latency, mean
metric-latency-p50 = Completion latency, median
metric-latency-p99 = Completion latency, 99th percentile
