package io.github.iree4j.cluster.process;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The common rules for the histories of all nodes: every accepted operation ends exactly once, no frontier claims an
 * incomplete epoch, stages end in order, and no point of a timeline is issued twice, by any node.
 */
final class HistoryCheck {
    private final Set<String> points = new HashSet<>(); // of all nodes
    private final Set<String> slots = new HashSet<>();
    final List<String> faults = new ArrayList<>();
    int operations;
    int failed;

    /** Adds the history of a process. A killed process may have pipelines without an end. */
    void add(int node, List<String> history, boolean complete) {
        Map<String, Integer> ended = new HashMap<>(); // ended stages, by pipeline
        Map<String, Boolean> broken = new HashMap<>(); // whether a stage has failed
        Set<String> submitted = new HashSet<>();
        for (String line : history) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "identity" -> {
                    if (!slots.add(words[2] + "." + words[3])) {
                        faults.add("slot m%s.s%s was granted twice".formatted(words[2], words[3]));
                    }
                }
                case "submit" -> {
                    submitted.add(words[1]);
                    ended.put(words[1], 0);
                }
                case "changed" ->
                    faults.add("node %d: stage %s of pipeline %s ended twice, differently"
                            .formatted(node, words[2], words[1]));
                case "stale" ->
                    faults.add("node %d: round %s of device %s came back wrong".formatted(node, words[2], words[1]));
                case "hung" -> faults.add("node %d: round %s of device %s hung".formatted(node, words[2], words[1]));
                case "end" -> end(node, words, ended, broken);
                case "done" -> {
                    int stages = ended.getOrDefault(words[1], 0);
                    if (stages != Integer.parseInt(words[2])) {
                        faults.add("node %d: %d stages of pipeline %s ended, and %s were accepted"
                                .formatted(node, stages, words[1], words[2]));
                    }
                    submitted.remove(words[1]);
                }
                default -> {}
            }
        }
        if (complete && !submitted.isEmpty()) {
            faults.add("node %d: pipelines %s never ended".formatted(node, submitted));
        }
    }

    private void end(int node, String[] words, Map<String, Integer> ended, Map<String, Boolean> broken) {
        String pipeline = words[1];
        operations++;
        if (ended.merge(pipeline, 1, Integer::sum) != Integer.parseInt(words[2]) + 1) {
            faults.add("node %d: stage %s of pipeline %s ended more than once".formatted(node, words[2], pipeline));
        }
        if (words[3].equals("DEADLINE_EXCEEDED")) {
            faults.add("node %d: stage %s of pipeline %s hung".formatted(node, words[2], pipeline));
        }
        if (!words[3].equals("OK")) {
            failed++;
            broken.put(pipeline, true);
            return;
        }
        if (broken.containsKey(pipeline)) {
            faults.add("node %d: stage %s of pipeline %s succeeded after an earlier stage failed"
                    .formatted(node, words[2], pipeline));
        }
        if (!words[4].equals("-") && !points.add(words[4] + "@" + words[5])) {
            faults.add("node %d: epoch %s of %s was issued twice".formatted(node, words[5], words[4]));
        }
        if (!Boolean.parseBoolean(words[6])) {
            faults.add("node %d: the frontier of stage %s of pipeline %s was optimistic"
                    .formatted(node, words[2], pipeline));
        }
    }
}
