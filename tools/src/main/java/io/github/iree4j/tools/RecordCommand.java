package io.github.iree4j.tools;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.flight.FlightRecorder;
import io.github.iree4j.flight.RecorderOptions;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.tools.file.OutputFiles;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code iree4j record}: calls a function, and records the actions of the scheduler and the pools. */
@Command(
        name = "record",
        description = {
            "Calls a function of a compiled module and records the actions of the scheduler and the memory pools.",
            "'iree4j explain', 'replay' and 'export' read the file."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class RecordCommand implements Callable<Integer> {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Mixin
    private ProgramFlags flags;

    @Option(
            names = "--function",
            paramLabel = "NAME",
            description = "The function to call. Optional when the last module exports a single function.")
    private @Nullable String function;

    @Option(
            names = "--name",
            paramLabel = "NAME",
            description = "The name of the program in the recording. Default: the name of the last module's file.")
    private @Nullable String name;

    @Option(names = "--input", paramLabel = "VALUE", description = "An argument, as for 'iree4j run'.")
    private List<String> inputs = new ArrayList<>();

    @Option(
            names = "--recording",
            paramLabel = "FILE",
            required = true,
            description = "The file of the recording. An existing file is replaced.")
    private Path file;

    @Option(
            names = "--max_bytes",
            paramLabel = "N",
            defaultValue = "268435456",
            description = "Maximum size of the file; further records are only counted. Default: ${DEFAULT-VALUE}.")
    private long maximumBytes;

    @Option(
            names = "--dispatches",
            paramLabel = "N",
            defaultValue = "1",
            description = {
                "Of so many executions of a function one records the times of its dispatches, beginning with the first:",
                "1 for all executions, 0 for none. Default: ${DEFAULT-VALUE}."
            })
    private int dispatches;

    @Option(
            names = "--repetitions",
            paramLabel = "N",
            defaultValue = "1",
            description = "Number of calls, in sequence. Default: ${DEFAULT-VALUE}.")
    private int repetitions;

    RecordCommand() {}

    @Override
    public Integer call() throws IOException {
        OutputFiles.requireOther(file, flags.files(inputs));
        PrintWriter out = spec.commandLine().getOut();
        RecorderOptions options =
                RecorderOptions.DEFAULTS.withFile(file, maximumBytes).withDispatches(dispatches);
        FlightRecorder.Statistics done;
        try (IreeRuntime runtime = flags.open()) {
            FlightRecorder recorder = FlightRecorder.open(SchedulingDomain.ofProcess(), options);
            try {
                call(runtime, out);
            } finally {
                recorder.close();
            }
            done = recorder.statistics();
        }
        out.println("recorded %d events in %d bytes%s"
                .formatted(
                        done.recorded(),
                        done.fileBytes(),
                        done.fileDropped() == 0 ? "" : "; %d are not in the file".formatted(done.fileDropped())));
        return 0;
    }

    private void call(IreeRuntime runtime, PrintWriter out) throws IOException {
        String named = name == null ? flags.fileName() : name;
        try (Program program = runtime.load(flags.options().name(named).build())) {
            ProgramFunction called = ProgramFlags.function(program, named, function);
            try (CallArguments arguments = CallArguments.parse(called, inputs)) {
                for (int i = 0; i < repetitions; i++) {
                    try (Results results = called.invoke(arguments.values())) {
                        out.println("EXEC @%s: %d results"
                                .formatted(called.name(), results.asList().size()));
                    }
                }
            }
        }
    }
}
