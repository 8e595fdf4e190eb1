package io.github.iree4j.task;

import static io.github.iree4j.task.RecordedMachine.CPU;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Detection on recorded machines. */
class TopologyTest {
    @TempDir
    Path root;

    private RecordedMachine machine;

    @BeforeEach
    void record() {
        machine = new RecordedMachine(root);
    }

    private static List<List<Integer>> processors(Topology topology) {
        return topology.groups().stream().map(TopologyGroup::processors).toList();
    }

    private static String firsts(Topology topology) {
        return topology.groups().stream()
                .map(group -> group.processors().getFirst().toString())
                .collect(Collectors.joining(","));
    }

    @Test
    void eachPhysicalCoreGetsAWorker() {
        Topology topology = machine.twoSockets().topology("auto");
        assertThat(topology.groups()).hasSize(16);
        assertThat(topology.groups().get(3))
                .isEqualTo(new TopologyGroup(List.of(3, 19), 0, false, 32 << 10, 1 << 20, 33 << 20, 0));
        assertThat(topology.groups().get(12))
                .isEqualTo(new TopologyGroup(List.of(12, 28), 1, false, 32 << 10, 1 << 20, 33 << 20, 8));
        assertThat(topology.notes()).isEmpty();
    }

    /** Windows may have a folder \\sys, and programs for Windows that run on Linux see that of Linux. */
    @Test
    void filesOfLinuxAreReadOnLinuxOnly() {
        machine.twoSockets();
        assertThat(TopologyMachine.of("Linux", root, 32)
                        .choose(TopologyOptions.DEFAULTS)
                        .groups())
                .hasSize(16);
        assertThat(TopologyMachine.of("Windows 11", root, 8)
                        .choose(TopologyOptions.DEFAULTS)
                        .groups())
                .hasSize(8)
                .containsOnly(TopologyGroup.ANYWHERE);
    }

    @Test
    void eachThreadGetsAWorkerOnRequest() {
        Topology topology = machine.twoSockets().topology("mode=threads");
        assertThat(processors(topology)).hasSize(32).contains(List.of(0), List.of(16));
    }

    @Test
    void fewerWorkersAreSpreadOverSocketsOrKeptTogether() {
        machine.twoSockets();
        assertThat(firsts(machine.topology("max=4"))).isEqualTo("0,1,8,9");
        assertThat(firsts(machine.topology("max=4 distribution=compact"))).isEqualTo("0,1,2,3");
        assertThat(firsts(machine.topology("max=3 mode=threads distribution=compact")))
                .isEqualTo("0,1,2");
        assertThat(firsts(machine.topology("max=1"))).isEqualTo("0");
    }

    @Test
    void workersStayOnTheRequestedNodes() {
        machine.twoSockets();
        assertThat(firsts(machine.topology("nodes=1"))).isEqualTo("8,9,10,11,12,13,14,15");
        assertThat(machine.topology("nodes=0-1").groups()).hasSize(16);
        assertThatThrownBy(() -> machine.topology("nodes=2,3"))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("'nodes' is [2, 3] and this process may use processors of nodes [0, 1] only")
                .extracting(e -> ((IreeException) e).code())
                .isEqualTo(StatusCode.INVALID_ARGUMENT);
    }

    @Test
    void containerWithHalfAProcessorGetsASingleWorker() {
        machine.twoSockets()
                .file("/proc/self/cgroup", "0::/")
                .file("/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw")
                .file("/sys/fs/cgroup/cpu.max", "50000 100000");
        Topology topology = machine.topology("auto");
        assertThat(topology.groups()).hasSize(1);
        assertThat(topology.describe()).contains("quota of 0.50 processors");
    }

    @Test
    void quotaIsTheLeastOfAllLevelsAndRoundedDown() {
        machine.twoSockets()
                .file("/proc/self/cgroup", "0::/kubepods/pod1/app")
                .file("/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup rw")
                .file("/sys/fs/cgroup/kubepods/pod1/app/cpu.max", "max 100000")
                .file("/sys/fs/cgroup/kubepods/pod1/cpu.max", "390000 100000")
                .file("/sys/fs/cgroup/kubepods/cpu.max", "1600000 100000");
        assertThat(machine.topology("auto").groups()).hasSize(3);
        assertThat(machine.topology("max=2").groups()).hasSize(2);
    }

    @Test
    void quotaOfVersionOneIsFoundAtItsMount() {
        machine.twoSockets()
                .file("/proc/self/cgroup", "5:cpuset:/docker/ab\n4:cpu,cpuacct:/docker/ab\n0::/elsewhere")
                .file(
                        "/proc/self/mountinfo",
                        "32 31 0:29 /docker/ab /sys/fs/cgroup/cpu,cpuacct ro master:9 - cgroup cgroup rw,cpu,cpuacct\n"
                                + "33 31 0:30 /docker/ab /mnt/with\\040blank ro - cgroup cgroup rw,cpuset")
                .file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "250000")
                .file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "50000")
                .file("/mnt/with blank/cpuset.cpus", "0-3,16-19");
        assertThat(firsts(machine.topology("auto"))).isEqualTo("0,1,2,3");
        assertThat(machine.topology("mode=threads").groups()).hasSize(5);
    }

    @Test
    void noQuotaMeansNoLimit() {
        machine.twoSockets()
                .file("/sys/fs/cgroup/cpu.max", "max 100000")
                .file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
        assertThat(machine.topology("auto").groups()).hasSize(16);
    }

    @Test
    void affinityAndCpusetRestrict() {
        machine.twoSockets().allowed("2-5,18-21").file("/sys/fs/cgroup/cpuset.cpus.effective", "4-9,20-25");
        assertThat(processors(machine.topology("auto"))).containsExactly(List.of(4, 20), List.of(5, 21));
        // A core with a single usable thread counts as well.
        machine.allowed("4,21");
        assertThat(processors(machine.topology("auto"))).containsExactly(List.of(4), List.of(21));
    }

    @Test
    void offlineProcessorsGetNoWorkers() {
        machine.twoSockets().online("0-2,5,16-18,21");
        assertThat(processors(machine.topology("auto")))
                .containsExactly(List.of(0, 16), List.of(1, 17), List.of(2, 18), List.of(5, 21));
    }

    @Test
    void slowCoresAreDistinguishedFromFastCores() {
        machine.bigLittle();
        assertThat(firsts(machine.topology("auto"))).isEqualTo("4,5,6,7,0,1,2,3"); // fast cores first
        assertThat(firsts(machine.topology("cores=performance"))).isEqualTo("4,5,6,7");
        assertThat(firsts(machine.topology("cores=efficiency"))).isEqualTo("0,1,2,3");
        assertThat(firsts(machine.topology("max=5"))).isEqualTo("4,5,6,7,0");
        assertThat(machine.topology("auto").groups().getLast())
                .isEqualTo(new TopologyGroup(List.of(3), -1, true, 32 << 10, 1 << 20, 0, 0));
    }

    @Test
    void hybridProcessorsNameTheirSlowerCores() {
        machine.online("0-5").allowed("0-5").file("/sys/devices/cpu_atom/cpus", "4-5");
        for (int number = 0; number < 4; number++) {
            machine.processor(number, number < 2 ? "0-1" : "2-3", number < 2 ? "0-1" : "2-3", "0-5");
        }
        machine.processor(4, "4", "4-5", "0-5").processor(5, "5", "4-5", "0-5");
        assertThat(processors(machine.topology("auto")))
                .containsExactly(List.of(0, 1), List.of(2, 3), List.of(4), List.of(5));
        assertThat(processors(machine.topology("cores=performance"))).containsExactly(List.of(0, 1), List.of(2, 3));
    }

    @Test
    void aSingleKindOfCoreMatchesEveryKind() {
        machine.twoSockets();
        assertThat(machine.topology("cores=efficiency").groups()).hasSize(16);
        assertThat(machine.topology("cores=performance").groups()).hasSize(16);
    }

    @Test
    void undescribedMachineGetsAWorkerPerJvmProcessor() {
        assertThat(Topology.of("auto", root, 3).toString()).isEqualTo("workers=3");
        assertThat(Topology.of("auto", root, 0).toString()).isEqualTo("workers=1");
        machine.file("/sys/fs/cgroup/cpu.max", "200000 100000");
        assertThat(Topology.of("auto", root, 8).toString()).isEqualTo("workers=2");
    }

    @Test
    void jvmWithFewerProcessorsGetsFewerWorkers() {
        machine.twoSockets();
        assertThat(Topology.of("auto", root, 2).groups()).hasSize(2);
    }

    @Test
    void undescribedProcessorsAreSeparateGroups() {
        machine.online("0-3").allowed("0-3");
        assertThat(machine.topology("auto").toString()).isEqualTo("cpus=0; cpus=1; cpus=2; cpus=3");
    }

    @Test
    void implausibleValuesAreLeftOutAndNoted() {
        machine.twoSockets()
                .file("/sys/fs/cgroup/cpu.max", "many 100000")
                .file("/sys/devices/system/node/node1/cpulist", "8-zebra")
                .file(CPU + "cpu0/cache/index2/size", "big")
                .file(CPU + "cpu1/topology/core_cpus_list", "5-4000000000")
                .file(CPU + "cpu2/cache/index3/level", "third")
                .file("/proc/self/cgroup", "\0\0::::\n0::/../../escape\nno colons")
                .file("/proc/self/mountinfo", "31 - - -\n - cgroup2\n31 23 0:28 / /sys/fs/cgroup ro - cgroup2 a b\n");
        Topology topology = machine.topology("auto");
        assertThat(topology.groups()).hasSize(16);
        assertThat(topology.groups().get(0).l2Bytes()).isZero();
        assertThat(topology.groups().get(9).node()).isEqualTo(-1);
        assertThat(topology.notes().toString())
                .contains("cpu.max' is 'many 100000'")
                .contains("'zebra' is not a number")
                .contains("'big', not a size")
                .contains("'4000000000' is not a number")
                .contains("'third', not a number");
        assertThat(topology.describe()).contains("note: ");
    }

    @Test
    void affinityWithoutOnlineProcessorsIsIgnored() {
        machine.twoSockets().allowed("100-110");
        Topology topology = machine.topology("auto");
        assertThat(topology.groups()).hasSize(16);
        assertThat(topology.notes())
                .containsExactly("the affinity of the process is 100-110, none of which is online; ignored");
    }

    @Test
    void detectionNeverFailsOnDamagedFiles() {
        long seed = Effort.seed(20261120);
        Random random = new Random(seed);
        machine.twoSockets().file("/proc/self/cgroup", "0::/a").file("/sys/fs/cgroup/a/cpu.max", "1 2");
        String[] files = {
            CPU + "online",
            CPU + "cpu3/topology/core_cpus_list",
            CPU + "cpu4/cache/index0/shared_cpu_list",
            CPU + "cpu5/cache/index0/size",
            CPU + "cpu6/cpu_capacity",
            "/sys/devices/system/node/online",
            "/sys/devices/system/node/node0/cpulist",
            "/proc/self/status",
            "/proc/self/cgroup",
            "/proc/self/mountinfo",
            "/sys/fs/cgroup/cpu.max"
        };
        String alphabet = "0123456789,-/: \n\tKmaxcgroup2Cpus_allowed_list=\0\\";
        for (int round = 0; round < Effort.rounds(300); round++) {
            StringBuilder text = new StringBuilder();
            for (int i = random.nextInt(40); i > 0; i--) {
                text.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
            machine.file(files[random.nextInt(files.length)], text.toString());
            Topology topology = machine.topology("auto");
            assertThat(topology.groups()).as("seed %d round %d", seed, round).isNotEmpty();
            assertThat(Topology.of(topology.toString())).isEqualTo(topology);
        }
    }

    @Test
    void thisMachinesGroupsAreWithinItsAffinity() {
        Topology topology = Topology.detect(TopologyOptions.DEFAULTS);
        assertThat(topology.groups()).hasSizeBetween(1, Runtime.getRuntime().availableProcessors());
        assertThat(Topology.of(topology.toString())).isEqualTo(topology);
    }
}
