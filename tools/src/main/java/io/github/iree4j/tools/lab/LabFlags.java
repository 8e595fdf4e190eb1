package io.github.iree4j.tools.lab;

import io.github.iree4j.lab.Fault;
import io.github.iree4j.lab.LabOptions;
import io.github.iree4j.lab.Laboratory;
import io.github.iree4j.lab.Scale;
import io.github.iree4j.lab.Scenario;
import io.github.iree4j.lab.WaitKnowledge;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.tools.file.InputFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The flags of all runs of a scenario: the scenario, the scale and the faults. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class LabFlags {
    /** The size of the largest accepted file. */
    private static final int MAXIMUM_BYTES = 64 << 20;

    @Parameters(
            paramLabel = "SCENARIO|FILE",
            description = "A scenario named by 'iree4j lab list', or a file with a scenario in YAML or JSON.")
    private String scenario;

    @Option(
            names = "--width",
            paramLabel = "W",
            defaultValue = "1",
            description = "Independent copies on the same hardware, 1 to 4.")
    private int width;

    @Option(names = "--depth", paramLabel = "D", defaultValue = "1", description = "Chained repetitions, 1 to 8.")
    private int depth;

    @Option(
            names = "--lanes",
            paramLabel = "L",
            defaultValue = "0",
            description = "Lanes of the scalable hardware, 1 to 4. Default: as the scenario says.")
    private int lanes;

    @Option(
            names = "--fault",
            paramLabel = "KIND:TARGET[*FACTOR][@TICK]",
            description =
                    "Loses, slows, fails or exhausts hardware or an operation, or rejects a draft: lose:gpu@5, slow:gpu*3@5, fail:decode, exhaust:gpu, reject:verify. Repeat for several.")
    private List<String> faults = new ArrayList<>();

    LabFlags() {}

    /** Returns the scenario. */
    Scenario scenario() throws IOException {
        return read(scenario);
    }

    /** Reads a scenario of the laboratory, or of a file. */
    static Scenario read(String scenario) throws IOException {
        Path file = Path.of(scenario);
        if (!Files.isRegularFile(file)) {
            return Laboratory.scenario(scenario);
        }
        String text = InputFile.text("scenario", file, MAXIMUM_BYTES);
        try {
            return Laboratory.read(text);
        } catch (IreeException e) {
            throw IreeException.of(e.code(), "scenario '%s': %s".formatted(file, e.getMessage()), e);
        }
    }

    /** Returns the options of a run. */
    LabOptions options(long hostDelay) {
        return new LabOptions(
                new Scale(width, depth, lanes),
                faults.stream().map(Fault::parse).toList(),
                hostDelay,
                WaitKnowledge.FRONTIERS);
    }
}
