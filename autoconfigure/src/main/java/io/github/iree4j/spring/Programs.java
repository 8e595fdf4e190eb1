package io.github.iree4j.spring;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import org.springframework.core.io.ResourceLoader;

/**
 * The application's programs by name, loaded on one runtime.
 *
 * <p>Owns the programs: they are closed when they are unloaded or replaced, and all with this registry, which must be
 * closed before the runtime is. Safe for use by any number of threads; a call under way on a program that is unloaded
 * finishes first.
 */
public final class Programs implements AutoCloseable {

    private final IreeRuntime runtime;
    private final ResourceLoader resources;
    private final NavigableMap<String, LoadedProgram> loaded = new ConcurrentSkipListMap<>();
    private volatile boolean closed;

    /**
     * A program and where it came from.
     *
     * @param source its source
     * @param program the program; borrowed, the registry closes it
     */
    public record LoadedProgram(ProgramSource source, Program program) {}

    /**
     * A function and the program that it was found in.
     *
     * @param program the program
     * @param function the function; borrowed from its program
     */
    public record LocatedFunction(LoadedProgram program, ProgramFunction function) {}

    /**
     * An empty registry.
     *
     * @param runtime what loads and runs programs; not closed by this registry
     * @param resources resolves locations
     */
    public Programs(IreeRuntime runtime, ResourceLoader resources) {
        this.runtime = runtime;
        this.resources = resources;
    }

    /**
     * Loads a program; one of the same name is replaced, and closed, once the new one is ready.
     *
     * <p>Its files are mapped: while the program runs they may be deleted or replaced by renaming another file over them, but not
     * overwritten or truncated, which changes the program under its callers or ends the process. See {@link #loadCopy}.
     *
     * @param source what to load
     * @return the program
     * @throws ProgramLoadException when it cannot be loaded; a program of that name that was there stays
     */
    public LoadedProgram load(ProgramSource source) {
        return load(source, false);
    }

    /**
     * Loads a program from private copies of its files, which may then be overwritten at any time, as users do with files in a
     * directory that is watched. Takes the copies' space on disk while the program is loaded.
     *
     * @param source what to load
     * @return the program
     * @throws ProgramLoadException when it cannot be loaded; a program of that name that was there stays
     */
    public LoadedProgram loadCopy(ProgramSource source) {
        return load(source, true);
    }

    private LoadedProgram load(ProgramSource source, boolean copy) {
        LoadedProgram fresh = new LoadedProgram(source, open(source, copy));
        LoadedProgram replaced = loaded.put(source.name(), fresh);
        if (replaced != null) {
            replaced.program().close();
        }
        if (closed) { // close() may have missed it
            unload(source.name());
        }
        return fresh;
    }

    private Program open(ProgramSource source, boolean copy) {
        try (ModuleFiles files = new ModuleFiles(resources, copy)) {
            ProgramOptions.Builder options = ProgramOptions.builder()
                    .module(files.file(source.location(), "module"))
                    .overlappingCalls(source.overlappingCalls());
            for (Map.Entry<String, List<String>> scope : source.parameters().entrySet()) {
                for (String location : scope.getValue()) {
                    Path archive = files.file(location, "parameters of scope '%s'".formatted(scope.getKey()));
                    options.parameters(scope.getKey(), archive);
                    if (scope.getKey().equals(ProgramSource.DEFAULT_SCOPE)) {
                        options.parameters("", archive);
                    }
                }
            }
            if (source.device() != null) {
                options.device(source.device());
            }
            return runtime.load(options.build());
        } catch (IreeException | IOException e) {
            throw new ProgramLoadException(source, e);
        }
    }

    /**
     * Forgets a program and closes it.
     *
     * @param name its name
     * @return whether there was one
     */
    public boolean unload(String name) {
        LoadedProgram removed = loaded.remove(name);
        if (removed != null) {
            removed.program().close();
        }
        return removed != null;
    }

    /** All programs, sorted by name. */
    public List<LoadedProgram> all() {
        return List.copyOf(loaded.values());
    }

    /**
     * The program of that name, if there is one.
     *
     * @param name its name
     * @return the program; borrowed
     */
    public Optional<LoadedProgram> find(String name) {
        return Optional.ofNullable(loaded.get(name));
    }

    /**
     * The function {@code program.function}. Where program names themselves contain dots, the longest that fits is taken.
     *
     * @param name the program's name, a dot, the function's name
     * @return the function; borrowed from its program
     * @throws IreeException NOT_FOUND when there is no such program or function
     */
    public ProgramFunction function(String name) {
        return locate(name).function();
    }

    /**
     * The function {@code program.function} with its program, as {@link #function} finds it.
     *
     * @param name the program's name, a dot, the function's name
     * @return the function and its program; borrowed
     * @throws IreeException NOT_FOUND when there is no such program or function
     */
    public LocatedFunction locate(String name) {
        for (int dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1)) {
            LoadedProgram candidate = loaded.get(name.substring(0, dot));
            if (candidate != null) {
                return new LocatedFunction(candidate, candidate.program().function(name.substring(dot + 1)));
            }
        }
        throw new IreeException(
                StatusCode.NOT_FOUND,
                name.indexOf('.') < 0
                        ? "'%s' is not the name of a function; name it as 'program.function', with a program of %s"
                                .formatted(name, loaded.keySet())
                        : "no program for '%s'; there are %s, set iree.modules.<name>.location to add one"
                                .formatted(name, loaded.keySet()));
    }

    /** Closes all programs. Harmless when repeated. */
    @Override
    public void close() {
        closed = true;
        for (String name : List.copyOf(loaded.descendingKeySet())) {
            unload(name);
        }
    }
}
