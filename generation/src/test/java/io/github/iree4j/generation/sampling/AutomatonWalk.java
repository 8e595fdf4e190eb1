package io.github.iree4j.generation.sampling;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;

/** Random texts of an automaton. */
final class AutomatonWalk {
    private static final int BYTES = 256;

    private final ByteAutomaton automaton;
    private final int[] distances; // bytes to the next accepting state

    AutomatonWalk(ByteAutomaton automaton) {
        this.automaton = automaton;
        this.distances = new int[automaton.size()];
        List<List<Integer>> before = new ArrayList<>();
        for (int i = 0; i < automaton.size(); i++) {
            before.add(new ArrayList<>());
        }
        for (int i = 1; i < automaton.size(); i++) {
            for (int octet = 0; octet < BYTES; octet++) {
                before.get(automaton.next(i, octet)).add(i);
            }
        }
        Arrays.fill(distances, Integer.MAX_VALUE);
        Deque<Integer> line = new ArrayDeque<>();
        for (int i = 1; i < automaton.size(); i++) {
            if (automaton.isAccepting(i)) {
                distances[i] = 0;
                line.add(i);
            }
        }
        while (!line.isEmpty()) {
            int state = line.remove();
            for (int each : before.get(state)) {
                if (distances[each] == Integer.MAX_VALUE) {
                    distances[each] = distances[state] + 1;
                    line.add(each);
                }
            }
        }
    }

    /** Returns whether each state but the dead state leads to an accepting state. */
    boolean isTrim() {
        return Arrays.stream(distances).skip(1).allMatch(each -> each < Integer.MAX_VALUE);
    }

    /** Returns a text that wanders for some bytes and then ends as soon as possible. */
    String text(SplittableRandom random, int wandering) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int state = ByteAutomaton.START;
        while (true) {
            boolean homeward = bytes.size() >= wandering;
            if (automaton.isAccepting(state) && (homeward || random.nextInt(8) == 0)) {
                break;
            }
            List<Integer> targets = new ArrayList<>();
            List<Integer> octets = new ArrayList<>();
            int first = random.nextInt(BYTES);
            for (int i = 0; i < BYTES; i++) {
                int octet = (first + i) % BYTES;
                int next = automaton.next(state, octet);
                if (next != ByteAutomaton.DEAD
                        && !targets.contains(next)
                        && (!homeward || distances[next] < distances[state])) {
                    targets.add(next);
                    octets.add(octet);
                }
            }
            if (targets.isEmpty()) {
                break; // accepting, and nothing can follow
            }
            int chosen = random.nextInt(targets.size());
            bytes.write(octets.get(chosen));
            state = targets.get(chosen);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    static boolean accepts(ByteAutomaton automaton, String text) {
        return automaton.isAccepting(automaton.next(ByteAutomaton.START, text.getBytes(StandardCharsets.UTF_8)));
    }
}
