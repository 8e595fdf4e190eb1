package io.github.iree4j.hal.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The default budget leaves memory to the heap, to the rest of Java, and to other processes. */
class DefaultBudgetTest {
    private static final long MB = 1L << 20;
    private static final long GB = 1L << 30;

    @TempDir
    Path root;

    private void file(String name, String contents) throws IOException {
        Path file = root.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, contents);
    }

    private AvailableMemory available() {
        return new AvailableMemory(root);
    }

    @Test
    void machineKeepsHalfOfTheMemoryAvailableAfterTheHeap() {
        assertThat(new DefaultBudget(20 * GB, 24 * GB, GB / 2).bytes()).isEqualTo(9 * GB + GB / 2);
    }

    @Test
    void containerKeepsAQuarterOfItsRoomAfterTheHeap() {
        assertThat(new DefaultBudget(60 * GB, 4 * GB, GB).bytes()).isEqualTo(5 * GB / 8 * 3);
    }

    @Test
    void heapTakingEverythingStillLeavesABudget() {
        assertThat(new DefaultBudget(60 * GB, GB, GB).bytes()).isEqualTo(128 * MB);
        assertThat(new DefaultBudget(0, 0, GB).bytes()).isPositive();
    }

    @Test
    void budgetFitsBesideTheHeapIfAnEighthIsLeft() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 10_000; i++) {
            long machine = random.nextLong(1, 1L << random.nextInt(20, 45));
            long container = random.nextLong(1, 1L << random.nextInt(20, 45));
            long least = Math.min(machine, container);
            long heap = random.nextLong(0, least / 8 * 7 + 1);
            DefaultBudget budget = new DefaultBudget(machine, container, heap);
            assertThat(budget.bytes())
                    .as("%s, seed %d", budget, seed)
                    .isPositive()
                    .isLessThanOrEqualTo(Math.max(1, least - heap));
        }
    }

    @Test
    void cachesOfFilesAreAvailableOnTheMachine() throws IOException {
        file("proc/meminfo", "MemTotal: 24684096 kB\nMemFree: 1000 kB\nMemAvailable:   20228296 kB\n");
        assertThat(available().ofMachine()).isEqualTo(20228296L << 10);
    }

    @Test
    void limitOfAContainerIsLessItsUseWithoutCaches() throws IOException {
        file("proc/self/cgroup", "0::/\n");
        file("sys/fs/cgroup/memory.max", "1000000000\n");
        file("sys/fs/cgroup/memory.current", "700000000\n");
        file("sys/fs/cgroup/memory.stat", "anon 100000000\nfile 600000000\ninactive_file 500000000\n");
        assertThat(available().ofControlGroups()).isEqualTo(800000000);
    }

    @Test
    void leastRoomOfNestedGroupsCounts() throws IOException {
        file("proc/self/cgroup", "0::/pods.slice/one/app\n");
        file("sys/fs/cgroup/pods.slice/one/app/memory.max", "max\n");
        file("sys/fs/cgroup/pods.slice/one/app/memory.current", "5\n");
        file("sys/fs/cgroup/pods.slice/one/memory.max", "300\n");
        file("sys/fs/cgroup/pods.slice/one/memory.current", "200\n");
        file("sys/fs/cgroup/pods.slice/memory.max", "1000\n");
        file("sys/fs/cgroup/pods.slice/memory.current", "100\n");
        assertThat(available().ofControlGroups()).isEqualTo(100);
    }

    @Test
    void groupsOfTheFirstVersionAreFoundWhereThePathIsOfTheHost() throws IOException {
        file("proc/self/cgroup", "5:cpu,cpuacct:/docker/1\n4:memory:/docker/1\n0::/\n");
        file("sys/fs/cgroup/memory/memory.limit_in_bytes", "2000\n");
        file("sys/fs/cgroup/memory/memory.usage_in_bytes", "1500\n");
        file("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 300\n");
        assertThat(available().ofControlGroups()).isEqualTo(800);
    }

    @Test
    void fullGroupHasNoRoom() throws IOException {
        file("proc/self/cgroup", "0::/\n");
        file("sys/fs/cgroup/memory.max", "1000\n");
        file("sys/fs/cgroup/memory.current", "1001\n");
        assertThat(available().ofControlGroups()).isZero();
    }

    @Test
    void unreadableLimitIsNoLimit() throws IOException {
        assertThat(available().ofMachine()).isEqualTo(AvailableMemory.UNKNOWN);
        assertThat(available().ofControlGroups()).isEqualTo(AvailableMemory.UNKNOWN);
        file("proc/self/cgroup", "4:memory:/\nnonsense\n0::/../../..\n");
        file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        file("sys/fs/cgroup/memory/memory.usage_in_bytes", "1\n");
        assertThat(available().ofControlGroups()).isEqualTo(AvailableMemory.UNKNOWN);
    }

    @Test
    void deviceWithoutABudgetLeavesHalfOfTheMachineBesideTheHeap() {
        long all = ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getTotalMemorySize();
        long heap = Runtime.getRuntime().maxMemory();
        try (IreeRuntime runtime = IreeRuntime.create()) {
            assertThat(runtime.devices().getFirst().allocator().poolStatistics().budget())
                    .isPositive()
                    .isLessThanOrEqualTo(Math.max((all - heap) / 2, all / 8));
        }
    }

    @Test
    void devicesWithoutABudgetDivideTheDefault() {
        assertThat(new DefaultBudget(20 * GB, 24 * GB, GB / 2).bytes(3)).isEqualTo((9 * GB + GB / 2) / 3);
        assertThat(new DefaultBudget(0, 0, GB).bytes(3)).isPositive();
        DeviceOptions limited = DeviceOptions.builder().memoryLimit(GB).build();
        try (IreeRuntime alone = IreeRuntime.builder()
                        .device("a", "local", DeviceOptions.DEFAULTS)
                        .device("b", "local", limited)
                        .build();
                IreeRuntime several = IreeRuntime.builder()
                        .device("a", "local", DeviceOptions.DEFAULTS)
                        .device("b", "local-sync", DeviceOptions.DEFAULTS)
                        .device("c", "local", limited)
                        .device("d", "local-task", DeviceOptions.DEFAULTS)
                        .build()) {
            long most = budget(alone, "a");
            assertThat(budget(alone, "b")).isEqualTo(GB);
            assertThat(budget(several, "c")).isEqualTo(GB);
            long together = budget(several, "a") + budget(several, "b") + budget(several, "d");
            // The machine has other processes: the available amount varies.
            assertThat(together).isLessThan(most * 2);
            assertThat(budget(several, "a")).isLessThan(most * 2 / 3);
        }
    }

    private static long budget(IreeRuntime runtime, String device) {
        return runtime.device(device).allocator().poolStatistics().budget();
    }
}
