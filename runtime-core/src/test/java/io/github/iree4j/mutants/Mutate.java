package io.github.iree4j.mutants;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * Makes one mistake at a time and checks that the named tests fail. For {@code bin/mutate}, from the directory of the
 * module; takes beginnings of ids, or nothing for all.
 *
 * <p>Compiles the changed file alone, in front of the class path, and runs the tests in a separate JVM with the flags
 * of this JVM. Hanging mutants are found. A surviving mutant without a line in {@code docs/concurrency.md} is an error,
 * and so is a listed mutant that does not survive, does not apply or does not compile.
 */
final class Mutate {
    private static final Path WORK = Path.of("target/mutants");
    private static final int ROUND_MILLIS = 1_000;
    private static final int IDLE_MILLIS = 15_000;
    private static final Pattern TOOK = Pattern.compile("^took: (\\S+) (\\d+)$", Pattern.MULTILINE);
    private static final Pattern FAILURE =
            Pattern.compile("^failed: (.+) in .*\\[class:(?:[a-z0-9]+\\.)*(\\w+)\\].*$", Pattern.MULTILINE);

    private final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    private final String classPath = System.getProperty("java.class.path");
    private final Map<String, String> equivalent = MutantTables.equivalent();
    private final Map<String, Long> millis = new TreeMap<>(); // of each test class, without a mistake
    private final AtomicInteger killed = new AtomicInteger();
    private final AtomicInteger survived = new AtomicInteger();
    private final AtomicInteger wrong = new AtomicInteger();

    private Mutate() {}

    public static void main(String[] prefixes) throws Exception {
        boolean right = new Mutate().run(List.of(prefixes));
        System.exit(right ? 0 : 1);
    }

    private boolean run(List<String> prefixes) throws IOException, InterruptedException {
        long began = System.nanoTime();
        List<Mutant> mutants = MutantTables.read(Path.of("")).stream()
                .filter(mutant -> prefixes.isEmpty() || prefixes.stream().anyMatch(mutant.id()::startsWith))
                .toList();
        if (mutants.isEmpty()) { // the other module may have some
            System.out.println("mutate: no id of this module begins with " + String.join(" or ", prefixes));
            return MutantTables.ids().stream().anyMatch(id -> prefixes.stream().anyMatch(id::startsWith));
        }
        if (!passWithoutMistake(mutants)) {
            return false;
        }
        int workers = Integer.getInteger(
                "mutate.workers", Math.min(4, Runtime.getRuntime().availableProcessors()));
        try (ExecutorService executor = Executors.newFixedThreadPool(workers)) {
            List<Future<?>> all = new ArrayList<>();
            for (Mutant mutant : mutants) {
                all.add(executor.submit((Callable<Boolean>) () -> {
                    tryOut(mutant);
                    return true;
                }));
            }
            for (Future<?> each : all) {
                each.get();
            }
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
        if (prefixes.isEmpty()) {
            Set<String> unknown = new TreeSet<>(equivalent.keySet());
            unknown.removeAll(MutantTables.ids());
            unknown.forEach(id -> report("UNKNOWN", id, "is listed as surviving", wrong));
        }
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began);
        System.out.printf(
                "mutate: %d mutants, %d found, %d known to survive, %d wrong, in %d:%02d min%n",
                mutants.size(), killed.get(), survived.get(), wrong.get(), seconds / 60, seconds % 60);
        return wrong.get() == 0;
    }

    private void report(String outcome, String id, String text, AtomicInteger counter) {
        counter.incrementAndGet();
        System.out.printf("%-9s %s: %s%n", outcome, id, text);
    }

    /** Runs all tests once as things are: the tests must pass, or nothing follows from a failure. */
    private boolean passWithoutMistake(List<Mutant> mutants) throws IOException, InterruptedException {
        Set<String> tests = new LinkedHashSet<>();
        mutants.forEach(mutant -> tests.addAll(mutant.tests()));
        Files.createDirectories(WORK);
        Path log = WORK.resolve("none.log");
        int status = runTests(List.of(), List.copyOf(tests), log, TimeUnit.MINUTES.toMillis(20));
        String output = Files.readString(log);
        if (status != 0) {
            System.out.println("mutate: tests fail without a mistake, see " + log.toAbsolutePath());
            output.lines().filter(line -> line.startsWith("failed: ")).forEach(System.out::println);
            return false;
        }
        TOOK.matcher(output)
                .results()
                .forEach(took -> millis.merge(simple(took.group(1)), Long.parseLong(took.group(2)), Long::sum));
        return true;
    }

    private static String simple(String name) {
        String last = name.substring(name.lastIndexOf('.') + 1);
        return last.contains("$") ? last.substring(0, last.indexOf('$')) : last;
    }

    private void tryOut(Mutant mutant) throws IOException, InterruptedException {
        Path overlay = WORK.resolve(mutant.id());
        String error = compile(mutant, overlay);
        if (error != null) {
            report("ERROR", mutant.id(), error, wrong);
            return;
        }
        long usual = mutant.tests().stream()
                .mapToLong(test -> millis.getOrDefault(test, 0L))
                .sum();
        Path log = WORK.resolve(mutant.id() + ".log");
        long began = System.nanoTime();
        int status = runTests(List.of(overlay), mutant.tests(), log, 20_000 + 5 * usual);
        double seconds = (System.nanoTime() - began) / 1e9;
        boolean listed = equivalent.containsKey(mutant.id());
        if (status == 0) {
            if (listed) {
                report("survives", mutant.id(), "as listed", survived);
            } else {
                report("SURVIVED", mutant.id(), mutant.meaning(), wrong);
            }
            return;
        }
        String how;
        if (status == SelectedTests.FAILED) {
            Matcher failure = FAILURE.matcher(Files.readString(log));
            how = failure.find() ? failure.group(2) + "." + failure.group(1) : "by a failure";
        } else {
            how = status < 0 ? "hangs" : "ends with status " + status;
        }
        String text = "%s, %.1f s".formatted(how, seconds);
        if (listed) {
            report("FOUND", mutant.id(), "although listed as surviving: " + text, wrong);
        } else {
            report("found", mutant.id(), text, killed);
        }
    }

    /** Compiles the changed file; returns the obstacle. */
    private @Nullable String compile(Mutant mutant, Path overlay) throws IOException {
        String source;
        try {
            source = mutant.applyTo(Files.readString(MutantTables.source(mutant.file())));
        } catch (IllegalArgumentException e) {
            return e.getMessage();
        }
        Files.createDirectories(overlay);
        JavaFileObject changed =
                new SimpleJavaFileObject(URI.create("string:///" + mutant.file()), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return source;
                    }
                };
        StringWriter said = new StringWriter();
        boolean compiled = compiler.getTask(
                        said,
                        null,
                        null,
                        List.of("-proc:none", "-nowarn", "-g", "-d", overlay.toString(), "-cp", classPath),
                        null,
                        List.of(changed))
                .call();
        return compiled ? null : "does not compile: " + said;
    }

    /** Returns the exit status; -1 after too long a time. */
    private int runTests(List<Path> before, List<String> tests, Path log, long limitMillis)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp"));
        List<String> path = new ArrayList<>(before.stream().map(Path::toString).toList());
        path.add(classPath);
        command.add(String.join(File.pathSeparator, path));
        command.add(SelectedTests.class.getName());
        for (String test : tests) {
            command.add(classNamed(test));
        }
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        if (hangs(process, limitMillis)) {
            process.destroyForcibly().waitFor();
            return -1;
        }
        return process.exitValue();
    }

    /**
     * Waits for the end of a process; returns whether nothing comes: computing for longer than the limit, or no
     * activity at all for a while. The clock says little where other programs run as well.
     */
    private static boolean hangs(Process process, long limitMillis) throws InterruptedException {
        long seen = -1; // milliseconds of computing
        int idle = 0; // rounds
        while (!process.waitFor(ROUND_MILLIS, TimeUnit.MILLISECONDS)) {
            long computed =
                    process.info().totalCpuDuration().map(Duration::toMillis).orElse(0L);
            if (computed > limitMillis) {
                return true;
            }
            idle = computed - seen < ROUND_MILLIS / 50 ? idle + 1 : 0;
            seen = computed;
            if (idle * ROUND_MILLIS >= IDLE_MILLIS) {
                return true;
            }
        }
        return false;
    }

    private String classNamed(String simpleName) throws IOException {
        Path sources = Path.of("src/test/java");
        try (Stream<Path> files = Files.walk(sources)) {
            List<Path> found = files.filter(
                            file -> file.getFileName().toString().equals(simpleName + ".java"))
                    .toList();
            if (found.size() != 1) {
                throw new IOException("there are " + found.size() + " test classes " + simpleName);
            }
            String relative = sources.relativize(found.getFirst()).toString();
            return String.join(
                    ".",
                    Arrays.asList(relative.substring(0, relative.length() - 5).split("[/\\\\]")));
        }
    }
}
