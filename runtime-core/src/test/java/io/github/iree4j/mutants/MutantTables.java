package io.github.iree4j.mutants;

import io.github.iree4j.Modules;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The tables in {@code src/test/mutants}, read from the directory of the module with the detecting tests.
 *
 * <pre>
 * # a remark
 * file frontier/Frontier.java          what follows is a mistake in this file
 * tests FrontierTest FrontierLawsTest  and makes one of these fail
 *
 * = frontier.dominates-tainted: a tainted frontier is proved by what is left of it
 * tests CoveredSoundnessTest           of this mistake alone
 * - return !right.isTainted() &amp;&amp; dominatesEntries(right);
 * + return dominatesEntries(right);
 * </pre>
 *
 * <p>Several lines {@code -} are a single text, as are several lines {@code +} behind them; a {@code -} behind a {@code
 * +} begins another change of the same mistake.
 */
final class MutantTables {
    static final Path TABLES = Path.of("src/test/mutants");
    static final Path SOURCES = Path.of("src/main/java/io/github/iree4j");
    private static final Path REGISTER = Path.of("../docs/concurrency.md");
    private static final Pattern LISTED = Pattern.compile("^\\| `([a-z0-9.-]+)` \\| (.+) \\|$");

    private MutantTables() {}

    /** Directories of the modules with tables. */
    static List<Path> modules() {
        return Modules.with(TABLES);
    }

    /** A file of the main code, of any module: tables are where the tests are. */
    static Path source(String file) {
        return Modules.with(SOURCES).stream()
                .map(module -> module.resolve(SOURCES).resolve(file))
                .filter(Files::exists)
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no module has a file " + file));
    }

    /** The ids of all modules' mutants. */
    static Set<String> ids() {
        return modules().stream()
                .flatMap(module -> read(module).stream())
                .map(Mutant::id)
                .collect(Collectors.toSet());
    }

    /** Reads all tables of a module. */
    static List<Mutant> read(Path module) {
        List<Mutant> all = new ArrayList<>();
        Set<String> ids = new HashSet<>();
        try (Stream<Path> tables = Files.list(module.resolve(TABLES))) {
            for (Path table : tables.sorted().toList()) {
                for (Mutant mutant : new Reader(table).read()) {
                    if (!ids.add(mutant.id())) {
                        throw new IllegalArgumentException(table + ": there are two mutants " + mutant.id());
                    }
                    all.add(mutant);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return all;
    }

    /** Reads the mutants known to survive, with the reason that clears the tests. */
    static Map<String, String> equivalent() {
        Map<String, String> listed = new TreeMap<>();
        boolean inSection = false;
        for (String line : lines(REGISTER)) {
            inSection = line.startsWith("## ") ? line.equals("## Mutants that survive") : inSection;
            Matcher row = LISTED.matcher(line);
            if (inSection && row.matches()) {
                listed.put(row.group(1), row.group(2));
            }
        }
        return listed;
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static final class Reader {
        private final Path table;
        private final List<Mutant> mutants = new ArrayList<>();
        private String file = "";
        private List<String> usualTests = List.of();

        // Of the current mutant.
        private String id = "";
        private String meaning = "";
        private List<String> tests = List.of();
        private List<Mutant.Edit> edits = new ArrayList<>();
        private final List<String> find = new ArrayList<>();
        private final List<String> replacement = new ArrayList<>();

        Reader(Path table) {
            this.table = table;
        }

        List<Mutant> read() {
            int number = 0;
            for (String line : lines(table)) {
                number++;
                if (!take(line.strip())) {
                    throw new IllegalArgumentException("%s:%d: not understood: %s".formatted(table, number, line));
                }
            }
            endMutant();
            return mutants;
        }

        private boolean take(String line) {
            if (line.isEmpty() || line.startsWith("#")) {
                return true;
            }
            if (line.startsWith("file ")) {
                endMutant();
                file = line.substring(5).strip();
            } else if (line.startsWith("tests ")) {
                List<String> named = List.of(line.substring(6).strip().split("\\s+"));
                if (id.isEmpty()) {
                    usualTests = named;
                }
                tests = named;
            } else if (line.startsWith("= ") && line.indexOf(": ") > 0) {
                endMutant();
                id = line.substring(2, line.indexOf(": ")).strip();
                meaning = line.substring(line.indexOf(": ") + 2).strip();
                tests = usualTests;
            } else if (line.startsWith("-") && !id.isEmpty()) {
                if (!replacement.isEmpty()) {
                    endEdit();
                }
                find.add(line.substring(1).strip());
            } else if (line.startsWith("+") && !find.isEmpty()) {
                replacement.add(line.substring(1).strip());
            } else {
                return false;
            }
            return true;
        }

        private void endEdit() {
            if (!find.isEmpty()) {
                edits.add(new Mutant.Edit(String.join("\n", find), String.join("\n", replacement)));
                find.clear();
                replacement.clear();
            }
        }

        private void endMutant() {
            endEdit();
            if (!id.isEmpty()) {
                if (edits.isEmpty() || tests.isEmpty() || file.isEmpty()) {
                    throw new IllegalArgumentException(table + ": " + id + " lacks a change, tests or a file");
                }
                mutants.add(new Mutant(id, meaning, file, List.copyOf(edits), tests));
            }
            id = "";
            edits = new ArrayList<>();
        }
    }
}
