package io.github.iree4j.tools;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.modules.check.CheckModule;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code iree4j check}: runs modules that check themselves, with the {@code check} module's functions, as {@code iree-check-module} does:
 * each exported function is a test and gets a program of its own.
 */
@Command(
        name = "check",
        description =
                "Runs the tests in compiled modules: each exported function is one, which takes nothing, returns nothing and checks what it computes with the functions of module 'check'.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class CheckCommand implements Callable<Integer> {
    private static final int FAILED = 1;
    private static final int NOT_RUN = 2; // something could not be run at all, which no test expects

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Mixin
    private ProgramFlags flags;

    @Parameters(
            paramLabel = "FILE",
            arity = "0..*",
            description =
                    "A .vmfb with tests. Each of several is run by itself, behind the modules of --module, and what one cannot run leaves the others alone. Without any, the tests are those of the last --module.")
    private List<String> files = new ArrayList<>();

    @Option(
            names = "--expect_failure",
            arity = "0..1",
            fallbackValue = "true",
            description = "Turns the exit status round: 0 when a test fails, 1 when all pass.")
    private boolean expectFailure;

    @Option(
            names = "--gtest_filter",
            paramLabel = "PATTERNS",
            defaultValue = "*",
            description =
                    "Runs the tests that one of these matches, with * and ?, separated by colons; after a minus, those that none may match.")
    private String filter;

    @Option(
            names = "--gtest_list_tests",
            arity = "0..1",
            fallbackValue = "true",
            description = "Prints the tests and runs none.")
    private boolean listOnly;

    CheckCommand() {}

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        int status;
        try (IreeRuntime runtime = files.isEmpty() ? flags.open() : flags.openDevices()) {
            status = files.size() <= 1
                    ? run(runtime, files.isEmpty() ? null : files.getFirst(), out)
                    : runEach(runtime, out);
        }
        if (!expectFailure || status == NOT_RUN) {
            return status == 0 ? 0 : FAILED;
        }
        out.println(status == 0 ? "Test passed but expected failure" : "Test failed as expected");
        return status == 0 ? FAILED : 0;
    }

    /** All files one after another; one that cannot be loaded has failed, and is not what --expect_failure means. */
    private int runEach(IreeRuntime runtime, PrintWriter out) {
        List<String> failed = new ArrayList<>();
        int worst = 0;
        for (String file : files) {
            out.println(file);
            try {
                if (run(runtime, file, out) != 0) {
                    failed.add(file);
                    worst = Math.max(worst, FAILED);
                }
            } catch (IreeException | IOException e) {
                out.println(e);
                failed.add(file);
                worst = NOT_RUN;
            }
        }
        out.println("%d of %s passed".formatted(files.size() - failed.size(), counted(files.size(), "file")));
        failed.forEach(file -> out.println("failed: " + file));
        return worst;
    }

    private int run(IreeRuntime runtime, @Nullable String file, PrintWriter out) throws IOException {
        List<String> tests = new ArrayList<>();
        String module;
        try (Program program = load(runtime, file, new ArrayList<>())) {
            module = program.name();
            for (ProgramFunction function : ProgramFlags.ownFunctions(program)) {
                if (function.name().indexOf('$') >= 0 || function.name().startsWith("__")) {
                    continue; // the asynchronous twin of another, or the compiler's own
                }
                if (!function.argumentKinds().isEmpty()
                        || !function.resultKinds().isEmpty()) {
                    throw new IreeException(
                            StatusCode.INVALID_ARGUMENT,
                            "a test takes and returns nothing, and '%s' has arguments '%s' and results '%s'; is the module written for 'check'?"
                                    .formatted(function.fullName(), function.argumentKinds(), function.resultKinds()));
                }
                if (isChosen(function.fullName())) {
                    tests.add(function.fullName());
                }
            }
        }
        if (listOnly) {
            out.println(module + ".");
            tests.forEach(test -> out.println("  " + test.substring(module.length() + 1)));
            return 0;
        }
        return runAll(runtime, file, module, tests, out);
    }

    private int runAll(IreeRuntime runtime, @Nullable String file, String module, List<String> tests, PrintWriter out)
            throws IOException {
        String count = counted(tests.size(), "test");
        String suites = tests.isEmpty() ? "0 test suites" : "1 test suite";
        long start = System.nanoTime();
        out.println("[==========] Running %s from %s.".formatted(count, suites));
        List<String> failed = new ArrayList<>();
        if (!tests.isEmpty()) {
            out.println("[----------] %s from %s".formatted(count, module));
            for (String test : tests) {
                if (!passes(runtime, file, test, out)) {
                    failed.add(test);
                }
            }
            out.println("[----------] %s from %s (%d ms total)".formatted(count, module, millisSince(start)));
            out.println();
        }
        out.println("[==========] %s from %s ran. (%d ms total)".formatted(count, suites, millisSince(start)));
        out.println("[  PASSED  ] %s.".formatted(counted(tests.size() - failed.size(), "test")));
        if (failed.isEmpty()) {
            return 0;
        }
        out.println("[  FAILED  ] %s, listed below:".formatted(counted(failed.size(), "test")));
        failed.forEach(test -> out.println("[  FAILED  ] " + test));
        out.println();
        out.println(" %d FAILED TEST%s".formatted(failed.size(), failed.size() == 1 ? "" : "S"));
        return FAILED;
    }

    private boolean passes(IreeRuntime runtime, @Nullable String file, String test, PrintWriter out)
            throws IOException {
        out.println("[ RUN      ] " + test);
        out.flush();
        long start = System.nanoTime();
        List<String> failures = Collections.synchronizedList(new ArrayList<>());
        try (Program program = load(runtime, file, failures)) {
            program.function(test).invoke().close();
        } catch (IreeException e) {
            failures.add(e.toString());
        }
        failures.forEach(failure -> out.println("Failure\n" + failure));
        out.println(
                "[  %s ] %s (%d ms)".formatted(failures.isEmpty() ? "     OK" : "FAILED ", test, millisSince(start)));
        out.flush();
        return failures.isEmpty();
    }

    /** Every test has a program, with globals as they are at the beginning. Expectations that do not hold go into the list. */
    private Program load(IreeRuntime runtime, @Nullable String file, List<String> failures) throws IOException {
        // Before the modules that import it, and instead of the one that ends the call.
        return runtime.load(flags.options(file, CheckModule.createForRunner((expectation, failure) -> {
                    if (failure != null) {
                        failures.add("check.%s: %s".formatted(expectation, failure));
                    }
                }))
                .build());
    }

    private boolean isChosen(String test) {
        int minus = filter.indexOf('-');
        String wanted = minus < 0 ? filter : filter.substring(0, minus);
        String unwanted = minus < 0 ? "" : filter.substring(minus + 1);
        return (wanted.isEmpty() || matches(wanted, test)) && !matches(unwanted, test);
    }

    private static boolean matches(String patterns, String test) {
        return Arrays.stream(patterns.split(":", -1)).anyMatch(pattern -> {
            StringBuilder regex = new StringBuilder();
            for (char c : pattern.toCharArray()) {
                regex.append(c == '*' ? ".*" : c == '?' ? "." : Pattern.quote(String.valueOf(c)));
            }
            return test.matches(regex.toString());
        });
    }

    private static String counted(int count, String what) {
        return "%d %s%s".formatted(count, what, count == 1 ? "" : "s");
    }

    private static long millisSince(long start) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    }
}
