### 检查项:标题、证据、处理建议。
###
### check-THREAT-title 和 check-THREAT-advice;证据中有 "shape" 一词时取 check-THREAT-evidence-SHAPE,否则取 check-THREAT-evidence。
### 变量就是证据的键,由调用方按键名结尾格式化(…-share 为百分数,…-seconds、…-bytes、…-hertz 带单位,其余为数字或单词),另有 $status。

## 由谁执行

check-accelerator-title = 加速器
check-accelerator-evidence-hypervisor = 研究记录为 { $expected }，QEMU 报告为 { $seen }。
check-accelerator-evidence-study = 要求使用 { $expected }，研究实际使用的是 { $seen }。
check-accelerator-evidence-cpuid = 预期为 { $expected }，而虚拟机的 CPUID 显示 { $seen }。
check-accelerator-evidence-canary = 空转循环在虚拟机中的用时是宿主机的 { $slower-factor } 倍：KVM 虚拟机不会这么慢。
check-accelerator-evidence-agreed = 研究记录、QEMU 和虚拟机的 CPUID（凡能查询到的）一致：{ $seen }。
check-accelerator-evidence-unknown = 无法向 QEMU 查询是否启用了 KVM。
check-accelerator-advice = 请确认 /dev/kvm 可以打开，并已在固件中启用虚拟化；使用 --accel kvm，这样会报错而不会悄悄退回模拟。

## 时钟

check-clock-title = 时钟
check-clock-evidence-rate = 虚拟机时钟的走时误差为 { $error-share }（不确定度 ± { $uncertainty-share }）。
check-clock-evidence-duration = 本次运行按虚拟机时钟用时 { $guest-seconds }，按控制端时钟用时 { $controller-seconds }；消息传递只能解释 { $message-seconds } 的差异。
check-clock-evidence-unknown = 无法将虚拟机时钟与控制端时钟比较。
check-clock-advice = 虚拟机的所有数值都由它的时钟得出：请检查其时钟源，以及宿主机是否曾休眠或被改过时间，然后重新测量。

check-clock-source-title = 时钟源
check-clock-source-evidence-cost = 虚拟机使用时钟源 { $source }，每次读取耗时 { $read-seconds }。
check-clock-source-evidence-source = 虚拟机使用时钟源 { $source }。
check-clock-source-evidence-unknown = 虚拟机没有报告所用的时钟源。
check-clock-source-advice = 请让虚拟机使用 kvm-clock 或恒定 tsc（CPU 型号加 +invtsc）。模拟的虚拟机通常使用 hpet：每次操作都读时钟的工具会因此变慢。

## 争用

check-steal-title = 被窃取的 CPU 时间
check-steal-evidence = 上层的虚拟化软件取走了这台机器 { $steal-share } 的 CPU 时间。
check-steal-evidence-unknown = 无法读取被窃取的 CPU 时间。
check-steal-advice = 请停止这台宿主机上的其他虚拟机，或在独占 CPU 的机器上测量。

check-run-queue-title = 等待 CPU
check-run-queue-evidence = 其他程序占用其 CPU 时，在需要 CPU 的时间里，有 { $wait-share } 已就绪却没有 CPU 可用（{ $wait-seconds }）。
check-run-queue-evidence-unknown = 无法读取等待 CPU 的时间（内核没有提供 schedstat）。
check-run-queue-advice = 请停止这些 CPU 上的其他程序，或为研究分配专用 CPU（isolcpus、cpuset）。

check-contention-title = 仅一侧存在争用
check-contention-evidence-steal = 轮到宿主机时有 { $base-share } 的 CPU 时间被窃取，轮到虚拟机时为 { $other-share }。
check-contention-evidence-waiting = 宿主机的运行有 { $base-share } 的时间在等待 CPU，虚拟机为 { $other-share }。
check-contention-evidence-unknown = 并非两侧的窃取或等待时间都已知，无法比较。
check-contention-advice = 有其他程序只在其中一侧运行时出现。请找到它（定时任务、其他虚拟机、备份）并停止，然后重新测量。

check-quota-title = CPU 配额
check-quota-evidence = 因 CPU 配额被限制了 { $throttled-seconds }。
check-quota-evidence-unknown = 无法读取 CPU 配额造成的限制。
check-quota-advice = 请取消 vmtax 所在 cgroup 的配额（cpu.max），或在该 cgroup 之外运行 vmtax。

check-other-load-title = 其他负载
check-other-load-evidence-pressure = 在机器本应空闲时，有 { $pressure-share } 的时间存在任务等待{ $resource ->
        [cpu] CPU
        [io] I/O
       *[memory] 内存
    }。
check-other-load-evidence-busy = 在机器本应空闲时，其 CPU 有 { $busy-share } 的时间在忙。
check-other-load-evidence-unknown = 无法读取压力信息（/proc/pressure）。
check-other-load-advice = 请在研究前停止这台机器上的其他工作；systemd-cgtop 和 iotop 可以显示是谁在运行。

check-canary-title = 基准空转循环
check-canary-evidence-distance = { $machine ->
        [host] 宿主机
        [guest] 虚拟机
       *[other] { $machine }
    }：空转循环通常用时 { $median-seconds }，偏离最大的一次在第 { $round } 轮，偏离 { $distance-share }。
check-canary-evidence-change = { $machine ->
        [host] 宿主机
        [guest] 虚拟机
       *[other] { $machine }
    }：第 { $round } 轮运行前后，空转循环的用时变化了 { $distance-share }（通常为 { $median-seconds }）。
check-canary-evidence-unknown = { $machine ->
        [host] 宿主机
        [guest] 虚拟机
       *[other] { $machine }
    }：空转循环的计时太少，无法比较。
check-canary-advice = 机器本身的速度发生了变化：请检查节能调速器、睿频、温度和邻居负载。仅凭这一项不会剔除区组。

## 电源与散热

check-thermal-title = 过热与功耗
check-thermal-evidence-time = 运行中有 { $throttled-share } 的时间 CPU 被降频。
check-thermal-evidence-events = 运行期间因过热或功耗发生降频事件 { $events } 次。
check-thermal-evidence-seconds = 运行期间 CPU 被降频 { $throttled-seconds }。
check-thermal-evidence-unknown = 宿主机没有降频计数器。
check-thermal-advice = 请改善散热，或降低功耗上限和睿频，使速度不受之前运行内容的影响。

check-frequency-title = CPU 频率
check-frequency-evidence-arms = 宿主机运行时 CPU 频率为 { $base-hertz }，虚拟机运行时为 { $other-hertz }，相差 { $difference-share }。
check-frequency-evidence-unknown = 并非两侧的 CPU 频率都已知。
check-frequency-advice = 研究期间请将调速器设为 performance 并关闭睿频。

## 内存

check-memory-pressure-title = 内存压力
check-memory-pressure-evidence-killed = 运行期间内核因内存不足终止了 { $processes } 个进程。
check-memory-pressure-evidence-swapped = 运行期间换入换出了 { $pages } 页。
check-memory-pressure-evidence-merged = 宿主机合并了 { $pages } 页内存（KSM）。
check-memory-pressure-evidence-none = 两侧均没有换页，也没有进程被终止，宿主机没有合并内存页。
check-memory-pressure-evidence-unknown = 并非所有相关内核的换页或 OOM 终止次数都能读取。
check-memory-pressure-advice = 请释放内存、减小虚拟机或测试项的规模，关闭交换（swapoff -a）和 KSM（echo 2 > /sys/kernel/mm/ksm/run）。

check-huge-pages-title = 大页
check-huge-pages-evidence-run = 工作负载的内存有 { $huge-share } 位于所在机器的大页中；其下层内存有 { $backing-share } 位于宿主机的大页中。
check-huge-pages-evidence-own = 工作负载的内存位于大页中的比例：宿主机 { $base-share }，虚拟机 { $other-share }。
check-huge-pages-evidence-backing = 宿主机上供该工作使用的内存有 { $base-share } 位于大页中，虚拟机下层的内存为 { $other-share }。
check-huge-pages-evidence-unknown = 并非每一层的大页比例都能读取。
check-huge-pages-advice = 请使两侧的透明大页设置一致（/sys/kernel/mm/transparent_hugepage/enabled 以及 QEMU 的内存后端）；否则该行也包含页大小的差异。

## 磁盘

check-page-cache-title = 宿主机页缓存
check-page-cache-evidence-buffered = QEMU 打开数据文件时没有使用 O_DIRECT：虚拟机的读取来自宿主机页缓存。
check-page-cache-evidence-missing = 测试项传输的字节中，只有 { $lowest-share } 到 { $highest-share } 真正进出存储设备：其余由页缓存提供。
check-page-cache-evidence-surplus = 进出存储设备的字节是测试项传输量的 { $lowest-share } 到 { $highest-share }：同一进程中还有别的内容在使用磁盘。
check-page-cache-evidence-complete = 进出存储设备的字节是测试项传输量的 { $lowest-share } 到 { $highest-share }。
check-page-cache-evidence-buffered-writes = QEMU 经由宿主机页缓存写入：无法判断哪些字节是为本次运行到达设备的。
check-page-cache-evidence-descriptor = 字节数吻合，但无法读取 QEMU 的文件描述符是否带有 O_DIRECT。
check-page-cache-evidence-unknown = 到达存储设备的字节数，或测试项传输的字节数未知。
check-page-cache-advice = 请使用 --set disk.cache=none（配合 disk.aio=native 或 io_uring）。在带缓存的模式下，该行反映的是宿主机内存的速度。

check-cache-mode-title = 缓存模式
check-cache-mode-evidence-descriptor = 设置要求数据文件以{ $asked ->
        [direct] 直接
       *[buffered] 带缓存
    }方式打开，QEMU 的描述符实际为{ $seen ->
        [direct] 直接
       *[buffered] 带缓存
    }方式。
check-cache-mode-evidence-unknown = 无法读取 QEMU 对数据文件的描述符。
check-cache-mode-advice = 数据文件所在的文件系统可能不支持 O_DIRECT（tmpfs、某些网络文件系统）：请用 --work-dir 将数据文件放到别处。

check-guest-page-cache-title = 虚拟机页缓存
check-guest-page-cache-evidence-direct = 测试项绕过所在内核的页缓存（O_DIRECT）。
check-guest-page-cache-evidence-small = 测试项经由页缓存，工作范围为 { $span-bytes }；虚拟机内存为 { $memory-bytes }，宿主机为 { $other-memory-bytes }。
check-guest-page-cache-evidence-memory = 测试项经由页缓存（工作范围 { $span-bytes }），虚拟机内存为 { $memory-bytes }，宿主机为 { $other-memory-bytes }。
check-guest-page-cache-evidence-unknown = 不清楚测试项是否经由页缓存，或页缓存有多大。
check-guest-page-cache-advice = 请使用 O_DIRECT，或使工作范围至少为虚拟机内存的两倍，并让两台机器内存相同。

check-thin-provisioning-title = 数据文件中的空洞
check-thin-provisioning-evidence = 数据文件有 { $holes-share } 未分配；读取这部分不会产生 I/O。
check-thin-provisioning-evidence-unknown = 无法读取数据文件已分配的比例。
check-thin-provisioning-advice = 请让 vmtax 完整写满数据文件，并使用既不压缩也不打洞的文件系统。

## 运行的长度与过程

check-too-short-title = 时间太短
check-too-short-evidence-clock = 稳定阶段用时 { $steady-seconds }，而读一次时钟需要 { $read-seconds }：数值中包含了时钟分辨率的影响。
check-too-short-evidence-chosen = 稳定阶段用时 { $steady-seconds }，因为用户要求的时间短于默认值。
check-too-short-evidence-steady = 稳定阶段用时 { $steady-seconds }，应不少于 { $limit-seconds }。
check-too-short-evidence-percentile = { $metric } 由 { $samples } 个样本得出，至少需要 { $least-samples } 个。
check-too-short-evidence-effective = 本次运行的样本只相当于 { $effective-samples } 个独立样本。
check-too-short-evidence-long = 稳定阶段用时 { $steady-seconds }。
check-too-short-evidence-unknown = 稳定阶段的时长未知。
check-too-short-advice = 请给测试项更多时间（--param time=10s）。

check-steady-state-title = 稳态
check-steady-state-evidence-no-level = 吞吐量没有稳定下来：最佳截断点位于运行的一半处，即开始后 { $warm-up-seconds }。
check-steady-state-evidence-halves = 预热 { $warm-up-seconds } 之后，运行的前后两半相差 { $change-share }。
check-steady-state-evidence-unknown = 本次运行没有吞吐量序列，或样本太少。
check-steady-state-advice = 请延长运行时间和预热时间（--param ramp=10s）；测量 SSD 写入之前先将其写满。

check-burst-credits-title = 突发额度
check-burst-credits-evidence-drop = 开始后 { $at-seconds }，吞吐量持续降到原来的 { $after-share }。
check-burst-credits-evidence-level = 在 { $series-seconds } 内吞吐量没有持续下降。
check-burst-credits-evidence-short = { $series-seconds } 的吞吐量记录太短，看不出下降。
check-burst-credits-evidence-product = 宿主机报告的机型为“{ $product }”。
check-burst-credits-evidence-unknown = 吞吐量随时间的变化和机型名称都没有提供关于额度的信息。
check-burst-credits-advice = 请在每次运行前用完或攒满额度，使运行时间超过额度的持续时间，或换用没有额度限制的机器。

check-coordinated-omission-title = 协同遗漏
check-coordinated-omission-evidence-rate = 负载发生器达到了应保持速率的 { $achieved-share }。
check-coordinated-omission-evidence-gap = 有一次操作用时 { $longest-seconds }，而本应每 { $interval-seconds } 发出一次：其间的操作没有延迟记录。
check-coordinated-omission-evidence-unknown = 达到的速率或最长延迟未知。
check-coordinated-omission-advice = 请降低速率，或使用从每次操作的预定开始时刻计算延迟的负载发生器。

## 机器

check-tool-version-title = 工具版本
check-tool-version-evidence-differs = { $note }
check-tool-version-evidence-same = 两侧均为 { $version }。
check-tool-version-evidence-unknown = 没有记录工具的版本。
check-tool-version-advice = 不要把这一差异称为虚拟化开销：请让两侧使用相同的工具和相同的库。

check-kernel-title = 内核
check-kernel-evidence-same = 两台机器都运行 { $host }。
check-kernel-evidence-kernel-bound = 这项工作由内核完成，而宿主机运行 { $host }，虚拟机运行 { $guest }：数值中也包含内核的差异。
check-kernel-evidence-other = 宿主机运行 { $host }，虚拟机运行 { $guest }。
check-kernel-evidence-unknown = 并非两台机器的内核都已知。
check-kernel-advice = 请用宿主机的内核启动虚拟机。

check-environment-title = 环境
check-environment-evidence-none = 两台机器已知的属性都相同。
check-environment-evidence-differences = 宿主机与虚拟机有 { $differences } 项已知属性不同：{ $keys }。
check-environment-evidence-unknown = 缺少其中一台机器的信息。
check-environment-advice = 能统一的请统一（漏洞缓解措施、大页、I/O 调度器、预读）；其余差异属于比较对象本身。

## 研究的过程

check-dependence-title = 各轮相互影响
check-dependence-evidence-few = { $blocks } 个区组太少，无法判断。
check-dependence-evidence-trend = 宿主机自身的数值随时间上升或下降（Mann-Kendall tau { $tau }，p = { $p-value }）。
check-dependence-evidence-order = 开销与区组内谁先运行有关（p = { $p-value }）。
check-dependence-evidence-lag = 某一轮的开销与前一轮相关（相关系数 { $correlation }）。
check-dependence-evidence-none = 没有趋势，没有顺序效应，也没有值得一提的相关（{ $correlation }）。
check-dependence-evidence-unknown = 这些数值无法进行检验。
check-dependence-advice = 配对结果仍然成立。延长间隔或增加轮数会更可靠；请检查温度、磁盘空间或邻居负载。

check-host-noise-title = 宿主机噪声
check-host-noise-evidence-spread = 宿主机自身的数值离散度为 { $spread-share }。
check-host-noise-evidence-rescued = 宿主机自身的数值离散度为 { $spread-share }，但虚拟机随之同步变化：配对使方差缩小为原来的 { $reduction-factor } 分之一。
check-host-noise-evidence-unknown = 数值太少，无法判断。
check-host-noise-advice = 请在安静的机器上测量；宿主机波动如此之大时，任何开销都无法精确测定。

check-pairing-title = 配对
check-pairing-evidence-few = { $blocks } 个区组太少，无法判断。
check-pairing-evidence-reduction = 轮内比较使方差除以 { $reduction-factor }。
check-pairing-evidence-unknown = 数值没有变化，或无法使用。
check-pairing-advice = 小于 1 时配对反而有害：噪声变化快于一个区组，或一侧干扰了另一侧。延长运行时间会有帮助。

check-faster-than-host-title = 快于宿主机
check-faster-than-host-evidence-not-faster = 虚拟机没有比宿主机快出容许范围。
check-faster-than-host-evidence-implausible = 虚拟机比宿主机至少快 { $gain-share }：这很难归因于虚拟化。
check-faster-than-host-evidence-flushes = 虚拟机至少快 { $gain-share }，但它的刷盘请求被忽略（缓存模式 unsafe）：它的持久性保证低于宿主机。
check-faster-than-host-evidence-bytes = 虚拟机至少快 { $gain-share }，但并非每个区组的字节都确知到达了设备。
check-faster-than-host-evidence-device = 虚拟机至少快 { $gain-share }，且所有字节都到达了设备。
check-faster-than-host-evidence-unknown = 开销的置信区间未知。
check-faster-than-host-advice = 请查找虚拟机实际上没有做的事：缓存、刷盘、不同的内核或缓解措施、大页、走慢的时钟。

check-dropped-blocks-title = 被剔除的区组
check-dropped-blocks-evidence = { $blocks } 个区组中有 { $dropped } 个被检查剔除（{ $dropped-share }）。
check-dropped-blocks-evidence-unknown = 没有任何区组在两侧都测得数值。
check-dropped-blocks-advice = 请消除其他检查指出的问题，然后重新测量。

check-unknown-title = 较新版本的检查项
check-unknown-evidence = 本版本不认识所检查的内容。
check-unknown-evidence-unknown = 本版本不认识所检查的内容。
check-unknown-advice = 请用生成该研究的版本查看。
