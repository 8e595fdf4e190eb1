package io.github.iree4j.spring;

import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The parts of a program on which callers rely.
 *
 * @param module the name of the module
 * @param functions the declarations of the functions, by name
 */
record ProgramInterface(String module, NavigableMap<String, String> functions) {

    /** Maximum number of reported differences. */
    private static final int MOST = 20;

    static ProgramInterface of(Program program) {
        NavigableMap<String, String> functions = new TreeMap<>();
        for (ProgramFunction each : program.functions()) {
            functions.put(each.name(), each.declaration());
        }
        return new ProgramInterface(program.name(), functions);
    }

    /** Returns the differences of another interface, a phrase for each; empty without differences. */
    List<String> changesTo(ProgramInterface now) {
        List<String> changes = new ArrayList<>();
        if (!now.module.equals(module)) {
            changes.add("its module is '%s' and was '%s'".formatted(now.module, module));
        }
        functions.forEach((name, before) -> {
            String declared = now.functions.get(name);
            if (declared == null) {
                changes.add("function '%s' is gone".formatted(name));
            } else if (!declared.equals(before)) {
                changes.add("function '%s' is '%s' and was '%s'".formatted(name, declared, before));
            }
        });
        for (String name : now.functions.keySet()) {
            if (!functions.containsKey(name)) {
                changes.add("function '%s' is new".formatted(name));
            }
        }
        if (changes.size() <= MOST) {
            return changes;
        }
        List<String> first = new ArrayList<>(changes.subList(0, MOST));
        first.add("%d further differences".formatted(changes.size() - MOST));
        return first;
    }
}
