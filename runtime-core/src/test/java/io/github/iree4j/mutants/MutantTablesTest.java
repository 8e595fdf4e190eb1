package io.github.iree4j.mutants;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whether the tables of mutants match the present code: run by {@code bin/mutate}. */
class MutantTablesTest {
    @BeforeEach
    void sourcesAreThere() {
        assumeTrue(Files.isDirectory(MutantTables.SOURCES), "sources are not below the working directory");
    }

    @Test
    void everyMutantAppliesAndChangesSomething() throws IOException {
        for (Path module : MutantTables.modules()) {
            for (Mutant mutant : MutantTables.read(module)) {
                String source = Files.readString(MutantTables.source(mutant.file()));
                assertThat(mutant.applyTo(source)).as(mutant.id()).isNotEqualTo(source);
            }
        }
    }

    @Test
    void everyTestNamedByAMutantIsThere() throws IOException {
        for (Path module : MutantTables.modules()) {
            Map<String, List<Path>> tests;
            try (var files = Files.walk(module.resolve("src/test/java"))) {
                tests = files.collect(
                        Collectors.groupingBy(file -> file.getFileName().toString()));
            }
            TreeSet<String> named = new TreeSet<>();
            MutantTables.read(module).forEach(mutant -> named.addAll(mutant.tests()));
            for (String test : named) {
                assertThat(tests.getOrDefault(test + ".java", List.of()))
                        .as(test)
                        .hasSize(1);
            }
        }
    }

    @Test
    void everyMutantListedAsEquivalentIsInATable() {
        assertThat(MutantTables.ids()).containsAll(MutantTables.equivalent().keySet());
    }
}
