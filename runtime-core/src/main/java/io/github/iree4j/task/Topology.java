package io.github.iree4j.task;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The placement of workers: a group for each worker, detected on this machine within the limits of this process, or
 * specified explicitly. Immutable.
 *
 * <p>Detection reads {@code /sys/devices/system} and {@code /proc/self} on Linux: processors that are online and
 * allowed by affinity and cgroup cpusets; their cores, caches, NUMA nodes and slower kinds; and the CPU quota of the
 * cgroups (versions 1 and 2, all levels). Missing or implausible values are left out and {@linkplain #notes() noted};
 * detection never fails because of such values.
 *
 * <p>{@link #toString()} is an explicit specification readable by {@link #of}.
 */
@NotForApplications
public final class Topology {
    /** The maximum number of groups, and so of workers of an executor. */
    public static final int MAXIMUM_GROUPS = 256;

    private final List<TopologyGroup> groups;
    private final String origin;
    private final List<String> notes;

    Topology(List<TopologyGroup> groups, String origin, List<String> notes) {
        this.groups = List.copyOf(groups);
        this.origin = origin;
        this.notes = List.copyOf(notes);
    }

    /**
     * Detects the topology of this machine.
     *
     * @param options how to choose places
     * @return at least one group
     * @throws IreeException INVALID_ARGUMENT when the options name a NUMA node not available to the process
     */
    public static Topology detect(TopologyOptions options) {
        return TopologyMachine.of(
                        System.getProperty("os.name", ""),
                        Path.of("/"),
                        Runtime.getRuntime().availableProcessors())
                .choose(options);
    }

    /** Detects from files below a directory and the JVM's number of processors. */
    static Topology detect(TopologyOptions options, Path root, int jvmProcessors) {
        return TopologyMachine.read(root, jvmProcessors).choose(options);
    }

    /**
     * Reads a specification, in one of these forms:
     * <ul>
     *   <li>{@code auto}: like {@link TopologyOptions#DEFAULTS};
     *   <li>options: {@code mode=cores max=8 nodes=0 cores=performance distribution=compact}, any of these;
     *       {@code mode} is {@code cores} or {@code threads}, {@code cores} is {@code any}, {@code performance} or
     *       {@code efficiency}, {@code distribution} is {@code scatter} or {@code compact};
     *   <li>groups, separated by semicolons or line ends:
     *       {@code cpus=0,8 node=0 l1=32K l2=1M l3=32M cache=0; cpus=1,9}, where {@code cpus=any} is anywhere and all
     *       but {@code cpus} are optional; {@code each=0-3} for a group on each of these processors; {@code workers=4}
     *       for four groups anywhere.
     * </ul>
     *
     * Groups are taken as specified, whether or not the machine has the processors.
     *
     * @param specification the text
     * @return at least one group
     * @throws IreeException INVALID_ARGUMENT, naming the error; also for more than {@value #MAXIMUM_GROUPS} groups
     */
    public static Topology of(String specification) {
        return of(specification, Path.of("/"), Runtime.getRuntime().availableProcessors());
    }

    static Topology of(String specification, Path root, int jvmProcessors) {
        TopologyText.Specification parsed = TopologyText.parse(specification);
        List<TopologyGroup> groups = parsed.groups();
        if (groups != null) {
            return new Topology(groups, "as specified", List.of());
        }
        TopologyOptions options = parsed.options();
        return detect(options == null ? TopologyOptions.DEFAULTS : options, root, jvmProcessors);
    }

    /**
     * Returns a topology of workers anywhere on the machine.
     *
     * @param workers 1 to {@value #MAXIMUM_GROUPS}
     * @return the topology
     * @throws IreeException INVALID_ARGUMENT when out of range
     */
    public static Topology ofWorkers(int workers) {
        return of("workers=" + workers);
    }

    /**
     * Returns the places of workers.
     *
     * @return unmodifiable, 1 to {@value #MAXIMUM_GROUPS}
     */
    public List<TopologyGroup> groups() {
        return groups;
    }

    /**
     * Returns the values that detection found missing or implausible.
     *
     * @return messages for operators, usually none
     */
    public List<String> notes() {
        return notes;
    }

    /**
     * Returns a human-readable description.
     *
     * @return several lines: the origin, a line for each worker, notes
     */
    public String describe() {
        StringBuilder text = new StringBuilder();
        text.append(groups.size() == 1 ? "1 worker" : groups.size() + " workers");
        text.append(", ").append(origin).append('\n');
        Set<Integer> caches = new HashSet<>();
        Set<Integer> nodes = new HashSet<>();
        for (int i = 0; i < groups.size(); i++) {
            TopologyGroup group = groups.get(i);
            text.append("  %3d  ".formatted(i)).append(group).append('\n');
            caches.add(group.cache());
            nodes.add(group.node());
        }
        caches.remove(-1);
        nodes.remove(-1);
        if (!caches.isEmpty()) {
            text.append("  %d last-level cache%s".formatted(caches.size(), caches.size() == 1 ? "" : "s"));
            text.append(", %d NUMA node%s\n".formatted(Math.max(1, nodes.size()), nodes.size() > 1 ? "s" : ""));
        }
        for (String note : notes) {
            text.append("  note: ").append(note).append('\n');
        }
        return text.toString();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Topology topology && topology.groups.equals(groups);
    }

    @Override
    public int hashCode() {
        return groups.hashCode();
    }

    /** Returns the groups in the format of {@link #of}, on one line. */
    @Override
    public String toString() {
        if (groups.equals(Collections.nCopies(groups.size(), TopologyGroup.ANYWHERE))) {
            return "workers=" + groups.size();
        }
        return String.join("; ", groups.stream().map(TopologyGroup::toString).toList());
    }
}
