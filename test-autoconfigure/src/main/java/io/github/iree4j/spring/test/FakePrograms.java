package io.github.iree4j.spring.test;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.status.IreeException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * The scripted programs of a test. Calls take time on the clock of a virtual device, in sequence. Scripts and recorded
 * calls last until the end of the test method, as {@link #reset} is called after each method. Thread-safe.
 */
public final class FakePrograms {

    private final IreeRuntime runtime;
    private final Programs programs;
    private final FakeHardware hardware;
    private final Map<String, FakeFunction> functions = new ConcurrentHashMap<>();
    private final List<FakeCall> calls = new CopyOnWriteArrayList<>();

    FakePrograms(IreeRuntime runtime, Programs programs, FakeHardware hardware) {
        this.runtime = runtime;
        this.programs = programs;
        this.hardware = hardware;
    }

    /**
     * Loads a program under a name, in place of any other program with the name.
     *
     * @param name as in {@code iree.modules}
     * @param writer adds the functions
     * @return this
     */
    public FakePrograms program(String name, Consumer<FakeProgram> writer) {
        FakeProgram written = new FakeProgram();
        writer.accept(written);
        ProgramOptions.Builder options = ProgramOptions.builder()
                .module(FakeModule.of(name, written, hardware, calls))
                .overlappingCalls(true);
        written.variants().forEach(options::variants);
        Program program = runtime.load(options.build());
        functions.keySet().removeIf(function -> function.startsWith(name + "."));
        written.functions().forEach((function, fake) -> {
            fake.declare(program.function(function).results());
            functions.put(name + "." + function, fake);
        });
        programs.register(ProgramSource.of(name, "scripted"), program);
        return this;
    }

    /**
     * Returns a function, to script later calls.
     *
     * @param name the program's name, a dot, the function's name
     * @return the function
     * @throws IllegalArgumentException when there is none
     */
    public FakeFunction function(String name) {
        FakeFunction function = functions.get(name);
        if (function == null) {
            throw new IllegalArgumentException("there is no '%s'; there are %s".formatted(name, functions.keySet()));
        }
        return function;
    }

    /**
     * Returns the recorded calls, in order.
     *
     * @return a snapshot
     */
    public List<FakeCall> calls() {
        return List.copyOf(calls);
    }

    /**
     * Returns the time of the virtual clock, on which scripted programs run.
     *
     * @return the virtual time since the clock was created
     */
    public Duration now() {
        return hardware.now();
    }

    /**
     * Advances the virtual clock to a time, and runs all due work on this thread.
     *
     * @param time a time as of {@link #now()}, inclusive; an earlier time changes nothing
     */
    public void runUntil(Duration time) {
        hardware.clock().runUntil(time.toNanos());
    }

    /** Advances the virtual clock until no scheduled work is left, and runs the work on this thread. */
    public void runUntilIdle() {
        hardware.clock().runUntilIdle();
    }

    /**
     * Loses the device of the scripted programs: work of the device fails, in progress or submitted later.
     *
     * @param cause the failure of the work
     */
    public void loseDevice(IreeException cause) {
        hardware.device().lose(cause);
    }

    /**
     * Unloads all scripted programs and clears the recorded calls. Programs and functions held by beans then follow the
     * next script.
     */
    public void reset() {
        functions.keySet().stream()
                .map(function -> function.substring(0, function.lastIndexOf('.')))
                .distinct()
                .flatMap(program -> programs.find(program, ProgramSource.DEFAULT_VERSION).stream())
                .forEach(loaded ->
                        programs.unload(loaded.source().name(), loaded.source().version()));
        functions.clear();
        calls.clear();
    }
}
