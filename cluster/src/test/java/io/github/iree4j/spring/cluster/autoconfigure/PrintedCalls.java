package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Calls of the clients in a process, as lines that outlive the process. */
final class PrintedCalls implements ProgramCalls {
    private static final String CALL = "call";
    private static final String ANSWER = "answer";
    private static final String FAILURE = "failure";
    private static final String RELOADED = "reloaded";
    private static final String FAULT = "fault";
    private static final String END = " ."; // a line without the mark was cut by the kill
    private static final String NONE = "-";

    private final LongSupplier nanoTime;
    private final Consumer<String> out;
    private final AtomicLong calls = new AtomicLong();
    private final Map<Object, Integer> programs = new WeakHashMap<>(); // guarded by the map
    private int lastProgram; // guarded by programs

    /** With a clock shared by this process and the reader. */
    PrintedCalls(LongSupplier nanoTime, Consumer<String> out) {
        this.nanoTime = nanoTime;
        this.out = out;
    }

    private void print(Object... words) {
        out.accept(Arrays.stream(words)
                .map(each -> String.valueOf(each).replace('\n', '|'))
                .collect(Collectors.joining(" ", "", END)));
    }

    private static String text(float[] values) {
        return IntStream.range(0, values.length)
                .mapToObj(i -> Float.toString(values[i]))
                .collect(Collectors.joining(","));
    }

    private ProgramCalls.Call print(String name, String program, float[] given) {
        long number = calls.incrementAndGet();
        print(CALL, number, nanoTime.getAsLong(), name, program, text(given));
        return new ProgramCalls.Call() {
            @Override
            public void answered(float[] values) {
                print(ANSWER, number, nanoTime.getAsLong(), text(values));
            }

            @Override
            public void failed(IreeException cause) {
                print(FAILURE, number, nanoTime.getAsLong(), cause.code(), cause.getMessage());
            }

            @Override
            public void reloaded(Object to) {
                print(RELOADED, number, nanoTime.getAsLong(), number(to));
            }
        };
    }

    @Override
    public ProgramCalls.Call begin(String name, float[] answer) {
        return print(name, NONE, answer);
    }

    @Override
    public ProgramCalls.Call add(String name, Object program, float[] values) {
        return print(name, String.valueOf(number(program)), values);
    }

    private int number(Object program) {
        synchronized (programs) {
            return programs.computeIfAbsent(program, _ -> ++lastProgram);
        }
    }

    @Override
    public void fault(String what) {
        print(FAULT, what);
    }

    /** Reads the lines of a process into a history. */
    static final class Reader {
        private final ProgramHistory history;
        private final Map<String, ProgramHistory.Call> open = new ConcurrentHashMap<>(); // by number
        private final Map<String, Object> loaded = new HashMap<>(); // programs; owned by the reading thread

        Reader(ProgramHistory history) {
            this.history = history;
        }

        /** Returns whether the line is of a call. */
        boolean read(String printed) {
            String kind = printed.substring(0, Math.max(0, printed.indexOf(' ')));
            if (!List.of(CALL, ANSWER, FAILURE, RELOADED, FAULT).contains(kind)) {
                return false;
            }
            if (!printed.endsWith(END)) {
                return true;
            }
            String line = printed.substring(0, printed.length() - END.length());
            if (kind.equals(FAULT)) {
                history.fault(line.substring(FAULT.length() + 1));
                return true;
            }
            String[] words = line.split(" ", kind.equals(FAILURE) ? 5 : 6);
            long time = Long.parseLong(words[2]);
            if (kind.equals(CALL)) {
                open.put(words[1], history.begun(time, words[3], program(words[4]), values(words[5])));
                return true;
            }
            ProgramHistory.Call call = kind.equals(RELOADED) ? open.get(words[1]) : open.remove(words[1]);
            if (call == null) {
                history.fault(line + ": ended twice");
            } else if (kind.equals(RELOADED)) {
                call.reloaded(Objects.requireNonNull(program(words[3])));
            } else if (kind.equals(ANSWER)) {
                call.end(time, values(words[3]), null);
            } else {
                call.end(time, null, IreeException.of(StatusCode.valueOf(words[3]), words[4]));
            }
            return true;
        }

        private @Nullable Object program(String number) {
            return number.equals(NONE) ? null : loaded.computeIfAbsent(number, _ -> new Object());
        }

        private static float[] values(String text) {
            String[] words = text.split(",");
            float[] values = new float[words.length];
            for (int i = 0; i < values.length; i++) {
                values[i] = Float.parseFloat(words[i]);
            }
            return values;
        }

        /** Handles the end of the process, and so of the clients. */
        void ended() {
            open.values().forEach(each -> Objects.requireNonNull(each).lose());
            open.clear();
        }
    }
}
