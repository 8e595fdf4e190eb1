package io.github.iree4j.hal.pool;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Reservations and releases of pipelines, in order, as recorded by {@code bin/reservations} from running programs. */
final class RecordedMix {
    private RecordedMix() {}

    /** A reservation of {@code bytes} bytes, or the release of reservation {@code number} when bytes is -1. */
    record Step(int number, long bytes, boolean persistent) {
        boolean reserves() {
            return bytes >= 0;
        }
    }

    /** A recorded run. */
    record Pipeline(List<Step> steps) {
        int reservations() {
            return (int) steps.stream().filter(Step::reserves).count();
        }

        /** The most bytes held at once. */
        long peak() {
            long[] sizes = new long[reservations()];
            long live = 0;
            long peak = 0;
            for (Step step : steps) {
                if (step.reserves()) {
                    sizes[step.number()] = step.bytes();
                    live += step.bytes();
                } else {
                    live -= sizes[step.number()];
                }
                peak = Math.max(peak, live);
            }
            return peak;
        }

        long largest() {
            return steps.stream().mapToLong(Step::bytes).max().orElse(0);
        }
    }

    /** Reads the recording of the repository. */
    static List<Pipeline> load() throws IOException {
        try (InputStream in =
                Objects.requireNonNull(RecordedMix.class.getResourceAsStream("reservations.txt"), "reservations.txt")) {
            return parse(new String(in.readAllBytes(), StandardCharsets.US_ASCII));
        }
    }

    private static List<Pipeline> parse(String text) {
        List<Pipeline> pipelines = new ArrayList<>();
        for (String line : text.split("\n")) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "#", "" -> {}
                case "pipeline" -> pipelines.add(new Pipeline(new ArrayList<>()));
                case "+" ->
                    pipelines
                            .getLast()
                            .steps()
                            .add(new Step(
                                    Integer.parseInt(words[1]) - 1, Long.parseLong(words[2]), words[3].equals("p")));
                case "-" -> pipelines.getLast().steps().add(new Step(Integer.parseInt(words[1]) - 1, -1, false));
                default -> throw new IllegalArgumentException(line);
            }
        }
        return pipelines;
    }
}
