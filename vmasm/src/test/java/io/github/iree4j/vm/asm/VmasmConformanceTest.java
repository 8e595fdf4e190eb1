package io.github.iree4j.vm.asm;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.vm.isa.Isa;
import io.github.iree4j.vm.isa.Opcode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Suites in VMASM, under {@code src/test/resources/vmasm}: every operation, in succeeding and in failing functions. */
class VmasmConformanceTest {

    /** A directory of further suites, for example IREE's {@code runtime/src/iree/vm/test}. */
    private static final String EXTERNAL = "iree4j.conformance.dir";

    private static final Pattern FUNCTION = Pattern.compile("vm\\.func @([\\w.$]+)\\(.*?\\n}", Pattern.DOTALL);
    private static final Pattern INSTRUCTION = Pattern.compile("^ +(?:%[^=]*= )?vm\\.([\\w.]+)", Pattern.MULTILINE);
    private static final Pattern CALLEE = Pattern.compile(" @(\\w+)\\(");

    /** Operations without an instruction in the text. */
    private static final Map<String, String> NOT_WRITTEN =
            Map.of("block", "a label is text, and entering a block cannot fail");

    @TestFactory
    Stream<DynamicTest> ownSuites() {
        return suites(ownDirectory());
    }

    @TestFactory
    Stream<DynamicTest> suitesOfTheDirectoryGiven() {
        String directory = System.getProperty(EXTERNAL);
        Assumptions.assumeTrue(
                directory != null, "no further suites: -D" + EXTERNAL + "=<directory of .vmasm files> is not set");
        return suites(Path.of(Objects.requireNonNull(directory)));
    }

    @Test
    void everyOperationIsInASucceedingAndInAFailingFunction() throws IOException {
        Set<String> succeeding = new HashSet<>();
        Set<String> failing = new HashSet<>();
        for (Path file : files(ownDirectory())) {
            Map<String, String> bodies = new HashMap<>();
            Matcher functions = FUNCTION.matcher(Files.readString(file));
            while (functions.find()) {
                bodies.put(functions.group(1), functions.group());
            }
            for (String name : bodies.keySet()) {
                if (name.startsWith("test_")) {
                    succeeding.addAll(operations(name, bodies));
                } else if (name.startsWith("fail_")) {
                    failing.addAll(operations(name, bodies));
                }
            }
        }
        Set<String> all = new TreeSet<>();
        for (Opcode opcode : Isa.V17_0.opcodes()) {
            if (!NOT_WRITTEN.containsKey(opcode.mnemonic())) {
                all.add(opcode.mnemonic());
            }
        }
        assertThat(all).hasSizeGreaterThan(250);
        assertThat(succeeding).as("in functions that succeed").containsAll(all);
        assertThat(failing).as("in functions that fail").containsAll(all);
    }

    /** Returns the operations of a function and its callees, except for the comparing functions. */
    private static Set<String> operations(String function, Map<String, String> bodies) {
        Set<String> operations = new HashSet<>();
        Set<String> seen = new HashSet<>(Set.of(function));
        ArrayDeque<String> pending = new ArrayDeque<>(seen);
        while (!pending.isEmpty()) {
            String body = bodies.get(pending.remove());
            Matcher instructions = INSTRUCTION.matcher(body);
            while (instructions.find()) {
                operations.add(instructions.group(1));
            }
            Matcher callees = CALLEE.matcher(body);
            while (callees.find()) {
                String callee = callees.group(1);
                if (!callee.startsWith("expect_") && bodies.containsKey(callee) && seen.add(callee)) {
                    pending.add(callee);
                }
            }
        }
        return operations;
    }

    private static Path ownDirectory() {
        try {
            return Path.of(Objects.requireNonNull(VmasmConformanceTest.class.getResource("/vmasm"))
                    .toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Stream<DynamicTest> suites(Path directory) {
        List<Path> files = files(directory);
        assertThat(files).as("suites in '%s'", directory).isNotEmpty();
        List<Stream<DynamicTest>> tests = new ArrayList<>();
        for (Path file : files) {
            try {
                String name = file.getFileName().toString().replace(".vmasm", "");
                tests.add(ConformanceSuite.of(name, Files.readString(file)));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return tests.stream().flatMap(suite -> suite);
    }

    private static List<Path> files(Path directory) {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(".vmasm"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
