package io.github.iree4j;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs test classes where there is no build: {@code bin/gpu-run}, a JVM per class. Appends a line to a file for each
 * ended test ({@code outcome}, class, test, seconds and cause, with tabs between), and {@code end} after all; so the
 * file shows the progress of a dead JVM. Prints causes in full.
 */
final class RunTests implements TestExecutionListener {
    private static final int CAUSE_LENGTH = 240;

    private final Path results;
    private final Map<String, Long> started = new ConcurrentHashMap<>();
    private final AtomicInteger failed = new AtomicInteger();

    private RunTests(Path results) {
        this.results = results;
    }

    /** Takes the file for results and the names of classes. */
    public static void main(String[] arguments) {
        RunTests listener = new RunTests(Path.of(arguments[0]));
        String excluded = System.getProperty("iree4j.test.excluded-tags", "lincheck | nightly");
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(Arrays.stream(arguments)
                        .skip(1)
                        .map(name -> selectClass(name))
                        .toList())
                .filters(TagFilter.excludeTags(excluded))
                .build();
        LauncherFactory.create().execute(request, listener);
        // Threads left behind by a failed test do not delay the end.
        System.out.flush();
        Runtime.getRuntime().halt(listener.failed.get() == 0 ? 0 : 1);
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        started.put(test.getUniqueId(), System.nanoTime());
        if (test.isTest()) {
            System.out.println("--- " + describe(test));
        }
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        append("skipped", test, reason);
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        Throwable cause = result.getThrowable().orElse(null);
        String text = cause == null ? "" : String.valueOf(cause.getMessage());
        switch (result.getStatus()) {
            case SUCCESSFUL -> {
                if (test.isTest()) {
                    append("passed", test, "");
                }
            }
            case ABORTED -> append("skipped", test, text.replaceFirst("^Assumption failed: ", ""));
            case FAILED -> {
                failed.incrementAndGet();
                if (cause != null) {
                    print(cause);
                    text = cause.getClass().getSimpleName() + ": " + text;
                }
                append("failed", test, text);
            }
        }
    }

    @Override
    public void testPlanExecutionFinished(TestPlan plan) {
        write("end\n");
    }

    private static void print(Throwable cause) {
        PrintStream out = System.out;
        cause.printStackTrace(out);
    }

    /** A test, or a class with all tests skipped or failed beforehand. */
    private void append(String outcome, TestIdentifier test, String cause) {
        Long begin = started.get(test.getUniqueId());
        double seconds = begin == null ? 0 : (System.nanoTime() - begin) * 1e-9;
        String line = cause.replaceAll("\\s+", " ").strip();
        write(String.format(
                Locale.ROOT,
                "%s\t%s\t%s\t%.3f\t%s%n",
                outcome,
                className(test),
                describe(test).replaceAll("\\s+", " "),
                seconds,
                line.substring(0, Math.min(CAUSE_LENGTH, line.length()))));
    }

    private void write(String text) {
        try {
            Files.writeString(
                    results, text, StandardCharsets.UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String className(TestIdentifier test) {
        return test.getUniqueIdObject().getSegments().stream()
                .filter(segment ->
                        segment.getType().equals("class") || segment.getType().equals("class-template"))
                .map(segment -> segment.getValue())
                .findFirst()
                .orElse("?");
    }

    /** The name in the report; of an invocation with arguments, method and arguments. */
    private static String describe(TestIdentifier test) {
        StringBuilder name = new StringBuilder();
        for (var segment : test.getUniqueIdObject().getSegments()) {
            switch (segment.getType()) {
                case "nested-class" -> name.append(segment.getValue()).append('.');
                case "class-template-invocation" ->
                    name.append(segment.getValue()).append(' ');
                case "method", "test-template", "test-factory" ->
                    name.append(segment.getValue().replaceFirst("\\(.*", "").replaceFirst(".*#", ""));
                default -> {}
            }
        }
        String shown = test.getDisplayName().replaceFirst("\\(.*\\)$", "");
        if (name.isEmpty()) {
            return test.getLegacyReportingName();
        }
        return name.toString().endsWith(shown) ? name.toString() : name + " " + test.getDisplayName();
    }
}
