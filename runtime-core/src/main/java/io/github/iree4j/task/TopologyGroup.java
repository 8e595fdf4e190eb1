package io.github.iree4j.task;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.BitSet;
import java.util.List;

/**
 * The placement of a worker: its processors and their caches. Immutable.
 *
 * @param processors numbers of logical processors, ascending, usually the processors of a core; none when the worker
 *     may run anywhere
 * @param node NUMA node of the processors, -1 when unknown
 * @param efficient true for an efficiency core, slower by design than others of the machine
 * @param l1Bytes size of the first-level data cache, 0 when unknown
 * @param l2Bytes size of the second-level cache, 0 when unknown
 * @param l3Bytes size of the third-level cache, 0 when unknown or there is none
 * @param cache number of the last-level cache: groups with the same number share the cache; -1 when unknown
 */
@NotForApplications
public record TopologyGroup(
        List<Integer> processors, int node, boolean efficient, long l1Bytes, long l2Bytes, long l3Bytes, int cache) {
    /** Anywhere on the machine. */
    static final TopologyGroup ANYWHERE = new TopologyGroup(List.of(), -1, false, 0, 0, 0, -1);

    /** Larger than on any machine. */
    static final long LARGEST_CACHE = 1L << 40;

    static final int LARGEST_NODE = 1023; // CONFIG_NODES_SHIFT is at most 10

    /**
     * Sorts the processors and validates all values.
     *
     * @param processors numbers of logical processors, 0 to 8191
     * @param node NUMA node of the processors, -1 to 1023
     * @param efficient whether the core is an efficiency core
     * @param l1Bytes size of the first-level data cache, at most 2^40
     * @param l2Bytes size of the second-level cache, at most 2^40
     * @param l3Bytes size of the third-level cache, at most 2^40
     * @param cache number of the last-level cache, -1 to 8191
     * @throws IreeException INVALID_ARGUMENT, naming the value out of range
     */
    public TopologyGroup {
        processors = processors.stream().distinct().sorted().toList();
        for (int processor : processors) {
            check("processor", processor, 0, ProcessorList.LIMIT - 1);
        }
        check("node", node, -1, LARGEST_NODE);
        check("l1", l1Bytes, 0, LARGEST_CACHE);
        check("l2", l2Bytes, 0, LARGEST_CACHE);
        check("l3", l3Bytes, 0, LARGEST_CACHE);
        check("cache", cache, -1, ProcessorList.LIMIT - 1);
    }

    private static void check(String name, long value, long minimum, long maximum) {
        if (value < minimum || value > maximum) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'%s' is %d and must be within [%d, %d]".formatted(name, value, minimum, maximum));
        }
    }

    /**
     * Returns the processors as an affinity mask of the operating system.
     *
     * @return bit n % 64 of word n / 64 is processor n; no words when the worker may run anywhere
     */
    public long[] affinityMask() {
        return bits().toLongArray();
    }

    BitSet bits() {
        BitSet bits = new BitSet();
        processors.forEach(bits::set);
        return bits;
    }

    /** Returns the group in the format of {@link Topology#of}, without unknown values. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("cpus=");
        text.append(processors.isEmpty() ? "any" : ProcessorList.format(bits()));
        if (node >= 0) {
            text.append(" node=").append(node);
        }
        if (efficient) {
            text.append(" class=efficiency");
        }
        size(text, " l1=", l1Bytes);
        size(text, " l2=", l2Bytes);
        size(text, " l3=", l3Bytes);
        if (cache >= 0) {
            text.append(" cache=").append(cache);
        }
        return text.toString();
    }

    private static void size(StringBuilder text, String name, long bytes) {
        if (bytes != 0) {
            text.append(name).append(TopologyText.size(bytes));
        }
    }
}
