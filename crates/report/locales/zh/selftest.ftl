### vmtax selftest。每条消息连同参数不超过终端的 80 列。

selftest-title-aa = vmtax { $version } · 自检 A/A · { $date } · 第 { $rounds } / { $planned } 轮
selftest-title-injected = vmtax { $version } · 自检（注入开销） · { $date } · 第 { $rounds } / { $planned } 轮
selftest-emulated = 虚拟机由 TCG 模拟：其噪声与 KVM 下不同。
selftest-about-aa = 同一对象自我比较：发现的任何差异都是误报。
selftest-about-injected = 工作按已知百分比延长：放进去多少，就应当测出多少。
selftest-pair = { $base } 对 { $other }

selftest-excludes = 非 0
selftest-beyond = 越界
selftest-overall = 总体
selftest-interval = 95 % 区间
selftest-floor = 底噪
selftest-runs = 单次
selftest-injection = 注入
selftest-recovered = 测得
selftest-bias = 偏差（百分点）
selftest-bias-limit = 限值
selftest-contained = 包含

selftest-legend-excludes = 非 0：区间不含 0 的八轮组数 / 总组数
selftest-legend-beyond = 越界：判定为差异超出实用界限的组数
selftest-legend-overall = 总体：全部轮次合并的结果及其区间
selftest-legend-floor = 底噪：八轮在本机能分辨的最小差异（各组半宽的中位数）
selftest-legend-runs = 单次：较不稳定一方单次运行的离散度（稳健变异系数）
selftest-legend-contained = 包含：区间包含注入值的八轮组数
selftest-legend-bias = 偏差：测得值减注入值；限值：0.2 个百分点加标准误
selftest-dropped = { $machine } 上 { $benchmark } 的 { $blocks } 个区组不计入（未测得，或 INVALID）

selftest-rate-excludes = 不含 0 的区间：{ $rate }
selftest-rate-beyond = 超出界限的判定：{ $rate }
selftest-rate-contains = 包含注入值的区间：{ $rate }
selftest-rate-most = { $count } / { $all } = { $share }，至多 { $limit }
selftest-rate-least = { $count } / { $all } = { $share }，至少 { $limit }
selftest-error = 按组间差异计算的标准误（同组判定相关）：{ $errors } 个百分点
selftest-canaries = 金丝雀（自旋循环）：各机器单次探测与其中位数的最大偏离：
selftest-canary = { $machine } { $change }

selftest-pass-aa = PASS：vmtax 在本机的误报率不高于应有水平。
selftest-fail-aa = FAIL：本机误报过多；见 docs/selftest.md。
selftest-pass-injected = PASS：已知开销在本机能被正确测出。
selftest-fail-injected = FAIL：已知开销未能足够准确地测出；见 docs/selftest.md。
selftest-too-few = TOO FEW ROUNDS：不作判断；八轮组 { $groups } / { $least }（需要 { $needed } 轮）。
