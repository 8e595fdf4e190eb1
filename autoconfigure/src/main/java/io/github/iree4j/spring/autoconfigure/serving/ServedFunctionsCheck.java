package io.github.iree4j.spring.autoconfigure.serving;

import io.github.iree4j.ProgramFunction;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.Programs.LoadedProgram;
import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/** Rejects names in {@code iree.serving.functions} of programs that do not exist, and of functions that a program does not have. */
final class ServedFunctionsCheck implements SmartInitializingSingleton {

    private final Map<String, String> functions;
    private final Programs programs;

    ServedFunctionsCheck(Map<String, String> functions, Programs programs) {
        this.functions = functions;
        this.programs = programs;
    }

    @Override
    public void afterSingletonsInstantiated() {
        TreeSet<String> known = new TreeSet<>();
        programs.statuses().forEach(status -> known.add(status.source().name()));
        functions.forEach((program, function) -> {
            if (!known.contains(program)) {
                throw invalid(program, function, "There is no program of that name; there are %s.".formatted(known));
            }
        });
        programs.addCheck(this::check);
    }

    private void check(LoadedProgram loaded) {
        String name = loaded.source().name();
        String function = functions.get(name);
        if (function == null) {
            return;
        }
        try {
            loaded.program().function(function);
        } catch (IreeException e) {
            List<String> names = loaded.program().functions().stream()
                    .map(ProgramFunction::name)
                    .toList();
            throw invalid(
                    name, function, "Program '%s' has no function of that name; it has %s.".formatted(name, names));
        }
    }

    private static InvalidConfigurationPropertyValueException invalid(String program, String function, String reason) {
        return new InvalidConfigurationPropertyValueException("iree.serving.functions." + program, function, reason);
    }
}
