package io.github.iree4j.spring.serving;

import io.github.iree4j.ProgramFunction;
import io.github.iree4j.ValueDeclaration;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.Programs.LoadedProgram;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What is served under which model name and version.
 *
 * <p>Every program is served under its name as version 1. A model is one function: the one that the model's {@linkplain Model options}
 * name, else the program's only one. {@code program.function} names any function of any program. Safe for use by any number of threads;
 * programs that are loaded, replaced or unloaded are so here.
 */
public final class ServedModels {

    /** The version of models whose options do not name any. */
    static final String ONLY_VERSION = "1";

    /** Versions are numbers to most; by number then, and others after them by name. */
    private static final Comparator<String> VERSIONS =
            Comparator.comparingLong(ServedModels::number).thenComparing(Comparator.naturalOrder());

    private final Programs programs;
    private final Map<String, Model> models;

    /**
     * How one model is served.
     *
     * @param function the function; null for the program's only one
     * @param versions names of programs by version; empty for the program of the model's name
     */
    public record Model(@Nullable String function, Map<String, String> versions) {
        /** Keeps its own copy. */
        public Model {
            Map<String, String> sorted = new TreeMap<>(VERSIONS);
            sorted.putAll(versions);
            versions = new LinkedHashMap<>(sorted);
        }
    }

    /**
     * A function as a model.
     *
     * @param name the model's
     * @param version its version
     * @param program the program
     * @param function the function
     */
    record Served(String name, String version, LoadedProgram program, ProgramFunction function) {
        /** The name by which the invocation service knows it. */
        String qualifiedFunction() {
            return program.source().name() + "." + function.name();
        }
    }

    /**
     * What is served of some programs.
     *
     * @param programs the programs; all of them are served
     * @param models options of those that need any, by model name
     */
    public ServedModels(Programs programs, Map<String, Model> models) {
        this.programs = programs;
        this.models = Map.copyOf(models);
    }

    private static long number(String version) {
        try {
            return Long.parseLong(version);
        } catch (NumberFormatException e) {
            return Long.MAX_VALUE;
        }
    }

    /** Versions that can be called now, the newest last; empty when there is no such model. */
    List<String> versions(String model) {
        List<String> versions = new ArrayList<>();
        versionsOf(model).forEach((version, program) -> {
            if (programs.find(program).isPresent()) {
                versions.add(version);
            }
        });
        return versions;
    }

    private Map<String, String> versionsOf(String model) {
        Model options = models.get(model);
        return options == null || options.versions().isEmpty()
                ? Map.of(ONLY_VERSION, programOf(model))
                : options.versions();
    }

    private String programOf(String model) {
        for (int dot = model.length(); dot > 0; dot = model.lastIndexOf('.', dot - 1)) {
            String name = model.substring(0, dot);
            if (programs.find(name).isPresent()) {
                return name;
            }
        }
        return model;
    }

    /**
     * The function that serves a model.
     *
     * @param model its name
     * @param version its version; null for the newest that is loaded
     * @throws IreeException NOT_FOUND when there is none
     */
    Served find(String model, @Nullable String version) {
        Map<String, String> versions = versionsOf(model);
        List<String> loaded = versions(model);
        String chosen = version != null ? version : loaded.isEmpty() ? null : loaded.getLast();
        String name = chosen == null ? null : versions.get(chosen);
        Optional<LoadedProgram> program = name == null ? Optional.empty() : programs.find(name);
        if (chosen == null || program.isEmpty()) {
            throw new IreeException(
                    StatusCode.NOT_FOUND,
                    loaded.isEmpty()
                            ? "there is no model '%s'; there are %s".formatted(Datatype.shortened(model), names())
                            : "model '%s' has no version '%s'; it has %s"
                                    .formatted(model, Datatype.shortened(String.valueOf(version)), loaded));
        }
        return new Served(model, chosen, program.get(), function(model, program.get()));
    }

    private ProgramFunction function(String model, LoadedProgram program) {
        Model options = models.get(model);
        if (options != null && options.function() != null) {
            return program.program().function(options.function());
        }
        String prefix = program.source().name() + ".";
        if (model.startsWith(prefix)) {
            return program.program().function(model.substring(prefix.length()));
        }
        List<ProgramFunction> functions = program.program().functions();
        if (functions.size() != 1) {
            throw new IreeException(
                    StatusCode.NOT_FOUND,
                    "model '%s' has %d functions, %s; ask for '%s.<function>' or set iree.serving.models.%s.function"
                            .formatted(
                                    model,
                                    functions.size(),
                                    functions.stream()
                                            .map(ProgramFunction::name)
                                            .toList(),
                                    model,
                                    model));
        }
        return functions.getFirst();
    }

    /** Names of all models: those with options, and the programs that are no version of one. */
    List<String> names() {
        List<String> names = new ArrayList<>(models.keySet());
        for (LoadedProgram program : programs.all()) {
            String name = program.source().name();
            boolean versionOfAnother =
                    models.values().stream().anyMatch(model -> model.versions().containsValue(name));
            if (!versionOfAnother && !names.contains(name)) {
                names.add(name);
            }
        }
        names.sort(Comparator.naturalOrder());
        return names;
    }

    /** What an argument or result is called; compilers leave names out. */
    static String name(List<ValueDeclaration> values, int index, String otherwise) {
        String name = values.get(index).name();
        return name.isEmpty() ? otherwise + index : name;
    }

    static List<String> names(List<ValueDeclaration> values, String otherwise) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            names.add(name(values, i, otherwise));
        }
        return names;
    }
}
