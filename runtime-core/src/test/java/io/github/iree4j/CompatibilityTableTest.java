package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.modules.check.CheckModule;
import io.github.iree4j.modules.hal.HalModule;
import io.github.iree4j.modules.hal.InlineModules;
import io.github.iree4j.modules.parameters.ParametersModule;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.isa.Isa;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The forms listed in {@code docs/conformance/programs.md} are the accepted forms, and the named tests exist and use
 * the forms.
 */
class CompatibilityTableTest {
    private static final Path DOCUMENT = Path.of("../docs/conformance/programs.md");
    private static final Pattern FORM = Pattern.compile(
            "^\\| `([\\w.]+)` \\| `(0\\w+)` \\| (\\w{3} \\d{4}) \\| ([\\w ]*) \\| `(\\w+)` \\|$", Pattern.MULTILINE);
    private static final Pattern TEST = Pattern.compile("`(\\w+Test|test_\\w+\\.c)`");
    private static final Pattern CONSTANT = Pattern.compile("String (\\w+) = \"(0\\w+)\"");

    private record Form(String function, String convention, String test) {}

    private static List<Form> forms() throws IOException {
        List<Form> forms = new ArrayList<>();
        Matcher matcher = FORM.matcher(Files.readString(DOCUMENT));
        while (matcher.find()) {
            String name = matcher.group(1);
            boolean qualified = Stream.of("io_parameters.", "check.", "hal_inline.", "hal_loader.")
                    .anyMatch(name::startsWith);
            forms.add(new Form(qualified ? name : "hal." + name, matcher.group(2), matcher.group(5)));
        }
        return forms;
    }

    @Test
    void everyFunctionIsInTheTableAndEveryRowIsAFunction() throws IOException {
        TreeSet<String> provided = new TreeSet<>();
        for (VmModule module : List.of(
                HalModule.create(List.of()),
                InlineModules.inline(List.of(), (device, category, key, answer) -> {}, ""),
                InlineModules.loader(List.of(), (device, category, key, answer) -> {}, ""),
                ParametersModule.create(List.of()),
                CheckModule.create((expectation, failure) -> {}))) {
            for (VmFunction function : module.exports()) {
                provided.add(function.fullName() + " " + function.convention().text());
            }
        }
        List<String> written = forms().stream()
                .map(form -> form.function() + " " + form.convention())
                .toList();
        assertThat(written).doesNotHaveDuplicates();
        assertThat(new TreeSet<>(written)).isEqualTo(provided);
    }

    @Test
    void everyFormIsUsedByTheTestOfItsRow() throws IOException {
        Map<String, String> texts = sources();
        for (Form form : forms()) {
            String text = texts.get(form.test() + ".java");
            assertThat(text).as(form.toString()).isNotNull();
            String function = form.function().substring(form.function().indexOf('.') + 1);
            assertThat(text)
                    .as("%s uses the function", form)
                    .containsPattern("[\" .]" + Pattern.quote(function) + "[\", ]");
            assertThat(text.contains('"' + form.convention() + '"') || usesConstant(text, form.convention()))
                    .as("%s uses the form", form)
                    .isTrue();
        }
    }

    private static boolean usesConstant(String text, String convention) {
        Matcher constants = CONSTANT.matcher(text);
        while (constants.find()) {
            if (constants.group(2).equals(convention)) {
                return text.split("\\b" + constants.group(1) + "\\b", -1).length > 2;
            }
        }
        return false;
    }

    @Test
    void everyNamedTestIsThere() throws IOException {
        Map<String, String> texts = sources();
        Matcher named = TEST.matcher(Files.readString(DOCUMENT));
        int count = 0;
        while (named.find()) {
            String name = named.group(1);
            assertThat(texts).containsKey(name.endsWith(".c") ? name : name + ".java");
            count++;
        }
        assertThat(count).isGreaterThan(100);
    }

    @Test
    void versionsOfBytecodeMatchTheTables() throws IOException {
        List<String> versions = Isa.all().stream().map(isa -> "" + isa.major()).toList();
        List<String> written = new ArrayList<>();
        Matcher rows = Pattern.compile("^\\| (\\d\\d) \\| ", Pattern.MULTILINE).matcher(Files.readString(DOCUMENT));
        while (rows.find()) {
            written.add(rows.group(1));
        }
        assertThat(written).isEqualTo(versions);
    }

    private static Map<String, String> sources() throws IOException {
        Map<String, String> texts = new HashMap<>();
        List<Path> roots = new ArrayList<>(Modules.folders("src/test/java"));
        roots.add(Path.of("../native-shim/test"));
        for (Path root : roots) {
            try (Stream<Path> files = Files.walk(root)) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    String name = file.getFileName().toString();
                    if (name.endsWith(".java") || name.endsWith(".c")) {
                        texts.put(name, Files.readString(file));
                    }
                }
            }
        }
        return texts;
    }
}
