package io.github.iree4j.task;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A machine's system files below a directory, as presented by a kernel. */
final class RecordedMachine {
    static final String CPU = "/sys/devices/system/cpu/";

    final Path root;

    RecordedMachine(Path root) {
        this.root = root;
    }

    RecordedMachine file(String path, String text) {
        Path file = root.resolve(path.substring(1));
        try {
            Files.createDirectories(file.getParent());
            Files.writeString(file, text + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }

    RecordedMachine online(String list) {
        return file(CPU + "online", list);
    }

    /** A processor with its siblings on the core and caches of level 1 (both kinds), 2 and 3. */
    RecordedMachine processor(int number, String siblings, String l2Shared, String l3Shared) {
        String cpu = CPU + "cpu" + number;
        file(cpu + "/topology/core_cpus_list", siblings);
        cache(cpu, 0, 1, "Data", "32K", siblings);
        cache(cpu, 1, 1, "Instruction", "64K", siblings);
        cache(cpu, 2, 2, "Unified", "1024K", l2Shared);
        if (!l3Shared.isEmpty()) {
            cache(cpu, 3, 3, "Unified", "33792K", l3Shared);
        }
        return this;
    }

    private void cache(String cpu, int index, int level, String type, String size, String shared) {
        String directory = cpu + "/cache/index" + index;
        file(directory + "/level", "" + level);
        file(directory + "/type", type);
        file(directory + "/size", size);
        file(directory + "/shared_cpu_list", shared);
    }

    RecordedMachine allowed(String list) {
        return file(
                "/proc/self/status",
                "Name:\tjava\nCpus_allowed:\tff\nCpus_allowed_list:\t" + list + "\nMems_allowed:\t1");
    }

    /** Two sockets with 8 cores of two threads each; 16 to 31 are the second threads. */
    RecordedMachine twoSockets() {
        online("0-31");
        file("/sys/devices/system/node/online", "0-1");
        file("/sys/devices/system/node/node0/cpulist", "0-7,16-23");
        file("/sys/devices/system/node/node1/cpulist", "8-15,24-31");
        for (int number = 0; number < 32; number++) {
            int core = number % 16;
            String siblings = core + "," + (core + 16);
            processor(number, siblings, siblings, core < 8 ? "0-7,16-23" : "8-15,24-31");
        }
        return allowed("0-31");
    }

    /**
     * An arm_64 phone or board: four slow cores, three fast cores and a single faster core. No third-level cache, no
     * nodes.
     */
    RecordedMachine bigLittle() {
        online("0-7");
        for (int number = 0; number < 8; number++) {
            processor(number, "" + number, number < 4 ? "0-3" : "4-7", "");
            file(CPU + "cpu" + number + "/cpu_capacity", number < 4 ? "250" : number < 7 ? "870" : "1024");
        }
        return allowed("0-7");
    }

    Topology topology(String specification) {
        return Topology.of(specification, root, 1024);
    }
}
