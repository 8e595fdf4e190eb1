package io.github.iree4j.mutants;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs test classes in this JVM and exits at the first failure. Prints how long each class took. */
final class SelectedTests implements TestExecutionListener {
    /** Exit status when a test has failed. */
    static final int FAILED = 1;

    private static final int NOTHING_RUN = 3;

    private final AtomicInteger passed = new AtomicInteger();
    private final Map<String, Long> started = new TreeMap<>();

    private SelectedTests() {}

    public static void main(String[] classes) {
        SelectedTests listener = new SelectedTests();
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(Stream.of(classes).map(name -> selectClass(name)).toList())
                .filters(TagFilter.excludeTags("lincheck"))
                .build();
        LauncherFactory.create().execute(request, listener);
        end(listener.passed.get() > 0 ? 0 : NOTHING_RUN);
    }

    /** Exits at once: threads left behind by a mutant do not delay the end. */
    private static void end(int status) {
        System.out.flush();
        Runtime.getRuntime().halt(status);
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        started.put(test.getUniqueId(), System.nanoTime());
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (result.getStatus() == TestExecutionResult.Status.FAILED) {
            System.out.println("failed: " + test.getLegacyReportingName() + " in " + test.getUniqueId());
            result.getThrowable().ifPresent(thrown -> thrown.printStackTrace(System.out));
            end(FAILED);
        }
        if (test.isTest()) {
            passed.incrementAndGet();
        } else if (test.getSource().orElse(null) instanceof ClassSource source) {
            System.out.printf(
                    "took: %s %d%n",
                    source.getClassName(), (System.nanoTime() - started.get(test.getUniqueId())) / 1_000_000);
        }
    }
}
