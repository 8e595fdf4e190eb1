package io.github.iree4j.tools;

import io.github.iree4j.status.IreeException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The program {@code iree4j}: runs and inspects compiled modules. */
@Command(
        name = "iree4j",
        description = "Runs and inspects programs compiled by IREE.",
        mixinStandardHelpOptions = true,
        subcommands = {
            RunCommand.class,
            BenchmarkCommand.class,
            CheckCommand.class,
            BatchCommand.class,
            TraceCommand.class,
            RecordCommand.class,
            ReplayCommand.class,
            ExplainCommand.class,
            ExportCommand.class,
            DumpCommand.class,
            AsmCommand.class,
            SpirvCommand.class,
            PtxCommand.class,
            VerifyCommand.class,
            DevicesCommand.class,
            TopologyCommand.class,
            LabCommand.class,
            ParametersCommand.class
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class Iree4jCommand implements Runnable {
    private static final int FAILED = 1;

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    Iree4jCommand() {}

    /**
     * Runs the command and ends the process: status 0 on success, 1 on failure, 2 for invalid usage.
     *
     * @param arguments a subcommand and its flags
     */
    public static void main(String[] arguments) {
        PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
        PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        System.exit(execute(out, err, arguments));
    }

    /** Runs the command and returns its exit status. */
    static int execute(PrintWriter out, PrintWriter err, String... arguments) {
        int status = new CommandLine(new Iree4jCommand())
                .setOut(out)
                .setErr(err)
                .setExpandAtFiles(false) // --input @file.npy names the file's contents, not further flags
                .setExecutionExceptionHandler((e, _, _) -> {
                    out.flush();
                    printFailure(err, e);
                    return FAILED;
                })
                .execute(arguments);
        out.flush();
        err.flush();
        return status;
    }

    /** Prints code and message, then the chain of causes as far as they add information. */
    private static void printFailure(PrintWriter err, Throwable failure) {
        String said = describe(failure);
        err.println(said);
        int depth = 0;
        for (Throwable cause = failure.getCause(); cause != null && depth < 16; cause = cause.getCause(), depth++) {
            String message = cause.getMessage() == null ? cause.toString() : cause.getMessage();
            if (!said.contains(message)) {
                said += "\n" + message;
                err.println("  caused by " + describe(cause));
            }
        }
        for (Throwable suppressed : failure.getSuppressed()) {
            err.println("  and " + describe(suppressed));
        }
        if (!(failure instanceof IreeException) && Boolean.getBoolean("iree4j.stacktrace")) {
            failure.printStackTrace(err);
        }
    }

    private static String describe(Throwable failure) {
        return failure instanceof IreeException ? failure.toString() : "INTERNAL; " + failure;
    }

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "name a command");
    }
}
