package io.github.iree4j.task;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The processors available to this process.
 *
 * @param processors in ascending order; empty when unknown
 * @param online number of processors online, 0 when unknown
 * @param quota CPU quota of the cgroups in processors, infinite without a limit
 * @param jvmProcessors number of processors reported by the JVM
 * @param notes missing or implausible values
 */
record TopologyMachine(List<Processor> processors, int online, double quota, int jvmProcessors, List<String> notes) {
    /** The limit on workers without an explicit limit: waking more workers takes longer than most work. */
    private static final int DEFAULT_WORKERS = 64;

    /**
     * A logical processor.
     *
     * @param core the first processor of the same core
     * @param cache the first processor sharing the last-level cache, -1 when unknown
     */
    record Processor(
            int number, int core, int node, boolean efficient, long l1Bytes, long l2Bytes, long l3Bytes, int cache) {}

    /** This machine; of a system other than Linux only what the JVM reports, whatever lies in folders named like Linux's. */
    static TopologyMachine of(String system, Path root, int jvmProcessors) {
        return system.equals("Linux")
                ? read(root, jvmProcessors)
                : new TopologyMachine(List.of(), 0, Double.POSITIVE_INFINITY, jvmProcessors, List.of());
    }

    static TopologyMachine read(Path root, int jvmProcessors) {
        TopologyFiles files = new TopologyFiles(root);
        TopologySysfs sysfs = new TopologySysfs(files);
        TopologyCgroups cgroups = new TopologyCgroups(files);
        BitSet online = sysfs.online();
        BitSet usable = (BitSet) online.clone();
        restrict(files, usable, "the affinity of the process", cgroups.affinity());
        restrict(files, usable, "the cpuset of its cgroup", cgroups.cpuset());
        return new TopologyMachine(
                sysfs.processors(usable), online.cardinality(), cgroups.quota(), jvmProcessors, files.notes());
    }

    private static void restrict(TopologyFiles files, BitSet usable, String what, BitSet allowed) {
        if (allowed.isEmpty() || usable.isEmpty()) {
            return; // unknown
        }
        if (!usable.intersects(allowed)) {
            files.note("%s is %s, none of which is online; ignored".formatted(what, ProcessorList.format(allowed)));
            return;
        }
        usable.and(allowed);
    }

    Topology choose(TopologyOptions options) {
        int limit = options.maxWorkers() == 0 ? DEFAULT_WORKERS : options.maxWorkers();
        limit = Math.min(limit, Math.max(1, jvmProcessors));
        // Rounded down: with one worker more the kernel would now and then throttle all workers, and the threads of the
        // application, for the rest of a period.
        limit = (int) Math.min(limit, Math.max(1, Math.floor(quota)));
        if (processors.isEmpty()) {
            return new Topology(
                    java.util.Collections.nCopies(limit, TopologyGroup.ANYWHERE),
                    "for %d processors that the JVM reports%s".formatted(jvmProcessors, quotaText()),
                    notes);
        }
        List<TopologyGroup> places = places(options);
        List<TopologyGroup> chosen = new ArrayList<>();
        for (boolean efficient : new boolean[] {false, true}) {
            List<TopologyGroup> kind =
                    places.stream().filter(p -> p.efficient() == efficient).toList();
            List<TopologyGroup> taken = take(kind, limit - chosen.size(), options.distribution());
            taken.stream()
                    .sorted(Comparator.comparing(p -> p.processors().getFirst()))
                    .forEach(chosen::add);
        }
        return new Topology(
                chosen,
                "%s of %d on %d of %d processors%s"
                        .formatted(
                                options.mode() == TopologyOptions.Mode.CORES ? "cores" : "threads",
                                places.size(),
                                processors.size(),
                                online,
                                quotaText()),
                notes);
    }

    private String quotaText() {
        return quota == Double.POSITIVE_INFINITY ? "" : String.format(Locale.ROOT, ", quota of %.2f processors", quota);
    }

    private List<TopologyGroup> places(TopologyOptions options) {
        Map<Integer, List<Processor>> byPlace = new TreeMap<>();
        TreeSet<Integer> nodes = new TreeSet<>();
        for (Processor processor : processors) {
            nodes.add(processor.node());
            if (options.nodes().isEmpty() || options.nodes().contains(processor.node())) {
                int place = options.mode() == TopologyOptions.Mode.CORES ? processor.core() : processor.number();
                byPlace.computeIfAbsent(place, _ -> new ArrayList<>()).add(processor);
            }
        }
        if (byPlace.isEmpty()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'nodes' is %s and this process may use processors of nodes %s only"
                            .formatted(options.nodes(), nodes));
        }
        List<TopologyGroup> places = new ArrayList<>();
        for (List<Processor> members : byPlace.values()) {
            Processor first = members.getFirst();
            places.add(new TopologyGroup(
                    members.stream().map(Processor::number).toList(),
                    first.node(),
                    first.efficient(),
                    first.l1Bytes(),
                    first.l2Bytes(),
                    first.l3Bytes(),
                    first.cache()));
        }
        boolean wantEfficient = options.cores() == TopologyOptions.Cores.EFFICIENCY;
        boolean mixed = places.stream().map(TopologyGroup::efficient).distinct().count() > 1;
        if (options.cores() != TopologyOptions.Cores.ANY && mixed) {
            places.removeIf(place -> place.efficient() != wantEfficient);
        }
        return places;
    }

    private static List<TopologyGroup> take(
            List<TopologyGroup> places, int count, TopologyOptions.Distribution distribution) {
        if (count >= places.size()) {
            return places;
        }
        if (distribution == TopologyOptions.Distribution.COMPACT) {
            return places.stream()
                    .sorted(Comparator.comparing(TopologyGroup::node).thenComparing(TopologyGroup::cache))
                    .limit(Math.max(0, count))
                    .toList();
        }
        // Round-robin over the caches of round-robin nodes.
        Map<Integer, Map<Integer, Deque<TopologyGroup>>> nodes = new TreeMap<>();
        for (TopologyGroup place : places) {
            nodes.computeIfAbsent(place.node(), _ -> new LinkedHashMap<>())
                    .computeIfAbsent(place.cache(), _ -> new ArrayDeque<>())
                    .add(place);
        }
        Deque<Deque<Deque<TopologyGroup>>> turns = new ArrayDeque<>();
        nodes.values().forEach(caches -> turns.add(new ArrayDeque<>(caches.values())));
        List<TopologyGroup> taken = new ArrayList<>();
        while (taken.size() < count) {
            Deque<Deque<TopologyGroup>> node = turns.remove();
            Deque<TopologyGroup> cache = node.remove();
            taken.add(cache.remove());
            if (!cache.isEmpty()) {
                node.add(cache);
            }
            if (!node.isEmpty()) {
                turns.add(node);
            }
        }
        return taken;
    }
}
