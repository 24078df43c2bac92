### vmtax compare.

compare-title = vmtax compare
compare-rounds = { $count } 轮
compare-study = { $date }，vmtax { $vmtax }，{ $rounds }，加速器 { $accelerator }，{ $hypervisor }，内核 { $host }（宿主机）与 { $guest }（客户机），配置 { $configuration }

## The answer.

compare-answer-regression = REGRESSION（性能退化）：{ $all } 项指标中有 { $count } 项在 B 中比在 A 中代价更高：{ $list }。
compare-answer-confirmed = REGRESSION（性能退化），已由 C 确认：{ $all } 项指标中有 { $count } 项在 B 中比在 A 中代价更高：{ $list }。
compare-answer-none = 没有退化：{ $all } 项指标中，B 有 { $improved } 项变好，{ $unchanged } 项变化在容差之内，{ $unclear } 项不明确或轮数太少。
compare-answer-refuted = 没有退化：B 在 { $list } 上显示的退化在 C 中没有出现。
compare-answer-undecided = 无法判定：{ $all } 项指标中没有一项可以断定变好、变差或不变。要判定这么多指标，每项研究至少需要 { $rounds } 轮；要得到更窄的区间则需要更多。
compare-answer-unconfirmed = 无法判定：B 在 { $list } 上变差，而 C 无法说明是否属实。请用相同的基准测试重新测量 C，至少 { $rounds } 轮。

## Notes.

compare-note-machine = 机器不同：A 运行在 { $a } 上，B 运行在 { $b } 上。即使是客户机与宿主机之比，也取决于处理器。
compare-note-accelerator = 加速器不同：A 使用 { $a }，B 使用 { $b }。二者是不同的东西，谈不上变好或变差。
compare-note-emulated = 模拟执行（TCG）：不是 KVM 的代价
compare-note-same = A 与 B 是同一项研究。
compare-note-repetition = C 不是 B 的重复：{ $differs }

## Tables.

compare-overhead = 开销：客户机相对宿主机的代价
compare-overhead-a = A
compare-overhead-b = B
compare-change = 变化
compare-interval = 95 % 区间
compare-verdict = 结论
compare-benchmark = 基准测试
compare-metric = 指标
compare-adjusted-p = p（Holm）
compare-margin = 容差
compare-overhead-note = 开销是各轮的中位数，以百分比表示。变化是指客户机相对宿主机的代价的变化：B 的某一轮与 A 的某一轮之间所有差值的中位数。宿主机自身变快或变慢会相互抵消。
compare-speeds = 速度（仅供参考）：宿主机的漂移体现在这里，不体现在上面的变化中
compare-host-a = 宿主机 A
compare-host-b = 宿主机 B
compare-guest-a = 客户机 A
compare-guest-b = 客户机 B
compare-unit = 单位
compare-confirmation = 重复研究 C 与 A 相比
compare-confirmation-none = 无法判断
compare-left-out = 未比较
compare-differences = A 与 B 的环境差异
compare-differences-none = vmtax 所记录的内容没有差异。
compare-property = 属性
compare-nothing = –
compare-secondary = 另有 { $count } 项次要指标见 Markdown 和 JSON 格式，不给结论。
compare-secondary-title = 次要指标（不给结论）

## Verdicts.

compare-verdict-REGRESSION = 变差超过容差：整个区间都在容差之上，并且对所有指标校正（Holm）后 p 小于 0.05
compare-verdict-IMPROVEMENT = 按同样的规则，变好超过容差
compare-verdict-NO_CHANGE = 任何变化都在容差之内
compare-verdict-UNCLEAR = 以上都不是；更多轮数可以判明
compare-verdict-TOO_FEW = 轮数太少，得不出任何结论：{ $all } 项指标至少需要每项研究 { $rounds } 轮
compare-verdict-NOT_CONFIRMED = B 变差，但其重复研究 C 没有显示出来

## Reasons.

compare-left-only = 只在 { $study } 中
compare-left-unmeasured = 在 { $study } 中没有在宿主机和客户机上都测到
compare-left-invalid = 在 { $study } 中为 INVALID（无效）
compare-left-parameters = 参数不同：{ $differing }
compare-left-version = 由不同版本测得：A 为 { $a }，另一方为 { $b }
compare-left-isa = 指令集不同：A 为 { $a }，另一方为 { $b }
compare-left-metric = 指标的单位或方向不同

## Properties of an environment.

compare-env-host-cpu = 处理器
compare-env-accelerator = 加速器
compare-env-qemu = QEMU
compare-env-host-kernel = 宿主机内核
compare-env-host-kernel-version = 宿主机内核构建
compare-env-guest-kernel = 客户机内核
compare-env-guest-kernel-file = 客户机内核文件（SHA-256）
compare-env-vmtax = vmtax
compare-env-build = vmtax 构建
compare-env-host-name = 主机名
compare-env-host-product = 宿主机产品
compare-env-host-hypervisor = 宿主机之下的虚拟机管理程序
compare-env-host-os = 宿主机系统
compare-env-host-command-line = 宿主机内核命令行
compare-env-host-cpus = 宿主机 CPU 数
compare-env-host-memory = 宿主机内存
compare-env-host-governor = 宿主机调频策略
compare-env-host-thp = 宿主机大页
compare-env-host-clock = 宿主机时钟源
compare-env-cpu-set = 使用的 CPU
compare-env-data-file = 数据文件
compare-env-data-file-system = 数据文件所在的文件系统
compare-env-guest-cpu = 客户机处理器
compare-env-guest-command-line = 客户机内核命令行
compare-env-guest-thp = 客户机大页
compare-env-guest-clock = 客户机时钟源
compare-env-toolbox = 工具镜像
compare-env-isa = 指令集
compare-env-suites = 计划：套件
compare-env-rounds = 计划：轮数
compare-env-precision = 计划：精度
compare-env-budget = 计划：时间预算
compare-env-setting = 设置 { $of }
compare-env-observed = 实际生效：{ $of }
compare-env-tool = 工具 { $of }
compare-env-host-mitigation = 宿主机对 { $of } 的缓解措施
compare-env-guest-mitigation = 客户机对 { $of } 的缓解措施
compare-env-limit = 计划：限值 { $of }
