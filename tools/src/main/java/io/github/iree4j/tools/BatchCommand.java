package io.github.iree4j.tools;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code iree4j batch}: runs many command lines in a single process, saving JVM startups. */
@Command(
        name = "batch",
        description =
                "Runs commands in sequence in a single process. A command is a list of arguments on separate lines, ended by an empty line; the line '[status N]' with the exit status follows the output.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class BatchCommand implements Callable<Integer> {
    private static final int FAILED = 1;

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Parameters(
            paramLabel = "FILE",
            arity = "0..1",
            description = "The file with the commands. Standard input when omitted, or for -.")
    private @Nullable Path file;

    BatchCommand() {}

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        int worst = 0;
        try (BufferedReader lines = open()) {
            List<String> arguments = new ArrayList<>();
            String line;
            do {
                line = lines.readLine();
                if (line != null && !line.isEmpty()) {
                    arguments.add(line);
                } else if (!arguments.isEmpty()) {
                    int status = Iree4jCommand.execute(out, err, arguments.toArray(String[]::new));
                    out.println("[status " + status + "]");
                    out.flush();
                    worst = status == 0 ? worst : FAILED;
                    arguments.clear();
                }
            } while (line != null);
        }
        return worst;
    }

    private BufferedReader open() throws IOException {
        return file == null || file.toString().equals("-")
                ? new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))
                : Files.newBufferedReader(file);
    }
}
