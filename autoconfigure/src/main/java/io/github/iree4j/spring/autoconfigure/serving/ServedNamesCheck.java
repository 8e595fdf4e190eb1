package io.github.iree4j.spring.autoconfigure.serving;

import io.github.iree4j.ProgramFunction;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.serving.ServedModels;
import io.github.iree4j.spring.serving.ValueRange;
import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * Rejects names in {@code iree.serving.functions} and {@code iree.serving.strings} of nonexistent programs, of
 * functions missing in a program, and of values missing in all functions of a program or unable to hold texts.
 */
final class ServedNamesCheck implements SmartInitializingSingleton {

    private static final String FUNCTIONS = "iree.serving.functions.";
    private static final String STRINGS = "iree.serving.strings.";
    private static final String RANGES = "iree.serving.ranges.";

    private final Map<String, String> functions;
    private final Map<String, Set<String>> strings;
    private final Map<String, Map<String, ValueRange>> ranges;
    private final Programs programs;

    ServedNamesCheck(IreeServingProperties properties, Programs programs) {
        this.functions = properties.functions();
        this.strings = properties.strings();
        this.ranges = properties.valueRanges();
        this.programs = programs;
    }

    @Override
    public void afterSingletonsInstantiated() {
        TreeSet<String> known = new TreeSet<>();
        programs.statuses().forEach(status -> known.add(status.source().name()));
        functions.keySet().forEach(program -> checkKnown(known, FUNCTIONS, program));
        strings.keySet().forEach(program -> checkKnown(known, STRINGS, program));
        ranges.keySet().forEach(program -> checkKnown(known, RANGES, program));
        programs.addCheck(this::check);
    }

    private static void checkKnown(Set<String> known, String property, String program) {
        if (!known.contains(program)) {
            throw new InvalidConfigurationPropertyValueException(
                    property + program, program, "There is no program of that name; there are %s.".formatted(known));
        }
    }

    private void check(LoadedProgram loaded) {
        String name = loaded.source().name();
        String function = functions.get(name);
        if (function != null) {
            checkFunction(loaded, name, function);
        }
        checkRanges(loaded, name);
        Set<String> wanted = strings.getOrDefault(name, Set.of());
        if (wanted.isEmpty()) {
            return;
        }
        Set<String> texts = new TreeSet<>();
        for (ProgramFunction each : loaded.program().functions()) {
            texts.addAll(ServedModels.possibleStrings(each));
        }
        for (String text : wanted) {
            if (!texts.contains(text)) {
                throw new InvalidConfigurationPropertyValueException(
                        STRINGS + name,
                        text,
                        "Program '%s' has no tensor of 8-bit integers of that name among inputs and outputs; candidates are %s."
                                .formatted(name, texts));
            }
        }
    }

    /** Without this check a misspelled input would be open to all values. */
    private void checkRanges(LoadedProgram loaded, String name) {
        TreeSet<String> inputs = new TreeSet<>();
        for (ProgramFunction each : loaded.program().functions()) {
            inputs.addAll(ServedModels.wholeNumberInputs(each));
        }
        ranges.getOrDefault(name, Map.of()).forEach((input, range) -> {
            if (!inputs.contains(input)) {
                throw new InvalidConfigurationPropertyValueException(
                        RANGES + name + "." + input,
                        range,
                        "Program '%s' has no input of that name for whole numbers; candidates are %s."
                                .formatted(name, inputs));
            }
        });
    }

    private static void checkFunction(LoadedProgram loaded, String name, String function) {
        try {
            loaded.program().function(function);
        } catch (IreeException e) {
            List<String> names = loaded.program().functions().stream()
                    .map(ProgramFunction::name)
                    .toList();
            throw new InvalidConfigurationPropertyValueException(
                    FUNCTIONS + name,
                    function,
                    "Program '%s' has no function of that name; the functions are %s.".formatted(name, names));
        }
    }
}
