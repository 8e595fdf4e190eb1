package io.github.iree4j.task;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The processors and time available to the process: affinity (proc(5)), and the cpusets and quotas of control groups,
 * version 1 (Documentation/scheduler/sched-bwc.rst of the kernel) and 2 (cgroup-v2.rst), whichever exists.
 */
final class TopologyCgroups {
    /** Maximum number of levels between a container's group and the root. */
    private static final int MOST_LEVELS = 64;

    /** A line of {@code /proc/self/mountinfo}: the part of a file system and its mount point. */
    private record Mount(String root, String point, String type, String options) {}

    private final TopologyFiles files;
    private final List<Mount> mounts = new ArrayList<>();

    TopologyCgroups(TopologyFiles files) {
        this.files = files;
        String table = files.read("/proc/self/mountinfo");
        for (String line : table == null ? new String[0] : table.split("\n")) {
            int dash = line.indexOf(" - ");
            String[] before = dash < 0 ? new String[0] : line.substring(0, dash).split(" ");
            String[] after = dash < 0 ? new String[0] : line.substring(dash + 3).split(" ");
            if (before.length >= 6 && after.length >= 3 && after[0].startsWith("cgroup")) {
                mounts.add(new Mount(unescape(before[3]), unescape(before[4]), after[0], after[2]));
            }
        }
        if (mounts.isEmpty()) { // the usual mount points
            mounts.add(new Mount("/", "/sys/fs/cgroup", "cgroup2", ""));
            mounts.add(new Mount("/", "/sys/fs/cgroup/cpu", "cgroup", "cpu"));
            mounts.add(new Mount("/", "/sys/fs/cgroup/cpuset", "cgroup", "cpuset"));
        }
    }

    private static String unescape(String path) {
        return path.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
    }

    /** Returns the processors allowed by the process's affinity; empty when unknown. */
    BitSet affinity() {
        String status = files.read("/proc/self/status");
        for (String line : status == null ? new String[0] : status.split("\n")) {
            if (line.startsWith("Cpus_allowed_list:")) {
                return files.list(
                        "/proc/self/status",
                        line.substring(line.indexOf(':') + 1).strip());
            }
        }
        return new BitSet();
    }

    /** Returns the processors of the process's cpuset; empty when unknown. */
    BitSet cpuset() {
        BitSet set = firstList(levels("cgroup2", ""), "cpuset.cpus.effective", "cpuset.cpus.effective");
        return set.isEmpty() ? firstList(levels("cgroup", "cpuset"), "cpuset.effective_cpus", "cpuset.cpus") : set;
    }

    private BitSet firstList(List<String> levels, String name, String otherName) {
        for (String level : levels) {
            BitSet set = files.readList(level + "/" + name);
            if (set.isEmpty()) {
                set = files.readList(level + "/" + otherName);
            }
            if (!set.isEmpty()) {
                return set;
            }
        }
        return new BitSet();
    }

    /** Returns the CPU quota in processors, the least of all levels; infinite without a limit. */
    double quota() {
        double quota = Double.POSITIVE_INFINITY;
        for (String level : levels("cgroup2", "")) {
            String path = level + "/cpu.max";
            String text = files.read(path);
            if (text != null && !text.startsWith("max")) {
                String[] parts = text.split("\\s+");
                quota = Math.min(quota, ratio(path, text, parts[0], parts.length > 1 ? parts[1] : "100000"));
            }
        }
        for (String level : levels("cgroup", "cpu")) {
            String path = level + "/cpu.cfs_quota_us";
            String text = files.read(path);
            String period = files.read(level + "/cpu.cfs_period_us");
            if (text != null && !text.equals("-1")) {
                quota = Math.min(quota, ratio(path, text, text, period == null ? "100000" : period));
            }
        }
        return quota;
    }

    private double ratio(String path, String text, String quota, String period) {
        try {
            double processors = (double) Long.parseLong(quota) / Long.parseLong(period);
            if (processors > 0 && processors < ProcessorList.LIMIT) {
                return processors;
            }
        } catch (NumberFormatException e) {
            // reported below
        }
        files.note("'%s' is '%s', not a share of time; ignored".formatted(path, ProcessorList.abbreviate(text)));
        return Double.POSITIVE_INFINITY;
    }

    /** Returns the directories of the process's group and of the group's ancestors, the group first. */
    private List<String> levels(String type, String controller) {
        String group = groupOf(controller);
        List<String> levels = new ArrayList<>();
        for (Mount mount : mounts) {
            if (!mount.type().equals(type)
                    || (!controller.isEmpty()
                            && !Arrays.asList(mount.options().split(",")).contains(controller))) {
                continue;
            }
            String below = group == null ? "" : below(mount.root(), group);
            for (int i = 0; i < MOST_LEVELS; i++) {
                String directory = mount.point() + below;
                if (files.isDirectory(directory)) {
                    levels.add(directory);
                }
                if (below.isEmpty()) {
                    break;
                }
                below = below.substring(0, below.lastIndexOf('/'));
            }
        }
        return levels;
    }

    /** Returns the path of a group within a mount. A container sees its own group as the mount's root, or by a path only valid outside. */
    private static String below(String mountRoot, String group) {
        String root = mountRoot.equals("/") ? "" : mountRoot;
        String path = group.startsWith(root) ? group.substring(root.length()) : "";
        return path.equals("/") || path.contains("..") || !path.startsWith("/") ? "" : path;
    }

    /**
     * Returns the process's group for a controller, or the group of version 2 for an empty name: a line
     * {@code 4:cpu,cpuacct:/path}, {@code 0::/path}.
     */
    private @Nullable String groupOf(String controller) {
        String text = files.read("/proc/self/cgroup");
        for (String line : text == null ? new String[0] : text.split("\n")) {
            String[] parts = line.split(":", 3);
            if (parts.length == 3 && Arrays.asList(parts[1].split(",")).contains(controller)) {
                return parts[2].strip();
            }
        }
        return null;
    }
}
