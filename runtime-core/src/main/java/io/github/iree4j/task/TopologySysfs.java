package io.github.iree4j.task;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads processors from {@code /sys/devices/system}: Documentation/ABI/stable/sysfs-devices-system-cpu of the kernel. */
final class TopologySysfs {
    private static final String CPU = "/sys/devices/system/cpu/";
    private static final String NODE = "/sys/devices/system/node/";

    /** Linux's list of the slower cores of x86 processors with two kinds. */
    private static final String ATOM = "/sys/devices/cpu_atom/cpus";

    /** Maximum number of caches per processor. Current machines have five or six. */
    private static final int MOST_CACHES = 16;

    private final TopologyFiles files;

    TopologySysfs(TopologyFiles files) {
        this.files = files;
    }

    /** Returns the online processors; empty when unknown. */
    BitSet online() {
        BitSet online = files.readList(CPU + "online");
        return online.isEmpty() ? files.readList(CPU + "present") : online;
    }

    List<TopologyMachine.Processor> processors(BitSet usable) {
        int[] nodes = nodes();
        BitSet slower = slower(usable);
        List<TopologyMachine.Processor> processors = new ArrayList<>();
        usable.stream().forEach(number -> {
            Caches caches = caches(number);
            processors.add(new TopologyMachine.Processor(
                    number,
                    firstOf(number, CPU + "cpu" + number + "/topology/core_cpus_list", "thread_siblings_list"),
                    nodes[number],
                    slower.get(number),
                    caches.bytes[1],
                    caches.bytes[2],
                    caches.bytes[3],
                    caches.last));
        });
        return processors;
    }

    /** Returns the first processor of the list containing the given processor; older kernels use the other name. */
    private int firstOf(int number, String path, String olderName) {
        BitSet siblings = files.readList(path);
        if (siblings.isEmpty()) {
            siblings = files.readList(path.substring(0, path.lastIndexOf('/') + 1) + olderName);
        }
        if (!siblings.isEmpty() && !siblings.get(number)) {
            files.note("'%s' is %s, without processor %d itself; ignored"
                    .formatted(path, ProcessorList.format(siblings), number));
            return number;
        }
        return siblings.isEmpty() ? number : siblings.nextSetBit(0);
    }

    private int[] nodes() {
        int[] nodes = new int[ProcessorList.LIMIT];
        Arrays.fill(nodes, -1);
        files.readList(NODE + "online").stream()
                .filter(node -> node <= TopologyGroup.LARGEST_NODE)
                .forEach(node -> files.readList(NODE + "node" + node + "/cpulist").stream()
                        .forEach(number -> nodes[number] = node));
        return nodes;
    }

    /** Returns the processors of the slowest kind, if there are several kinds. */
    private BitSet slower(BitSet usable) {
        BitSet slower = files.readList(ATOM);
        if (!slower.isEmpty()) {
            return slower;
        }
        long[] capacities = usable.stream()
                .mapToLong(number -> files.readNumber(CPU + "cpu" + number + "/cpu_capacity", -1))
                .toArray();
        long least = Arrays.stream(capacities).min().orElse(-1);
        if (least > 0 && Arrays.stream(capacities).anyMatch(capacity -> capacity != least)) {
            int i = 0;
            for (int number = usable.nextSetBit(0); number >= 0; number = usable.nextSetBit(number + 1)) {
                slower.set(number, capacities[i++] == least);
            }
        }
        return slower;
    }

    /** Sizes by level, and the last-level data cache. */
    private static final class Caches {
        final long[] bytes = new long[4];
        int last = -1;
        private int lastLevel;
    }

    private Caches caches(int number) {
        Caches caches = new Caches();
        for (int i = 0; i < MOST_CACHES; i++) {
            String directory = CPU + "cpu" + number + "/cache/index" + i + "/";
            String type = files.read(directory + "type");
            if (type == null) {
                break;
            }
            long level = files.readNumber(directory + "level", 0);
            if (type.equals("Instruction") || level < 1 || level > 4) {
                continue;
            }
            if (level <= 3) {
                caches.bytes[(int) level] = size(directory + "size", files.read(directory + "size"));
            }
            if (level > caches.lastLevel) {
                caches.lastLevel = (int) level;
                caches.last = firstOf(number, directory + "shared_cpu_list", "shared_cpu_list");
            }
        }
        return caches;
    }

    private long size(String path, @Nullable String text) {
        if (text == null || text.isEmpty()) {
            return 0; // virtual machines often hide the size
        }
        long size = TopologyText.parseSize(text);
        if (size < 0) {
            files.note("'%s' is '%s', not a size; ignored".formatted(path, ProcessorList.abbreviate(text)));
        }
        return Math.max(0, size);
    }
}
