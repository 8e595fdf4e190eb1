package io.github.iree4j.tools;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.tools.code.AsmCommand;
import io.github.iree4j.tools.code.DumpCommand;
import io.github.iree4j.tools.code.HsacoCommand;
import io.github.iree4j.tools.code.PtxCommand;
import io.github.iree4j.tools.code.SpirvCommand;
import io.github.iree4j.tools.lab.LabCommand;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The program {@code iree4j}: runs and inspects compiled modules. */
@Command(name = "iree4j", description = "Runs and inspects programs compiled by IREE.", mixinStandardHelpOptions = true)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class Iree4jCommand implements Runnable {
    private static final int FAILED = 1;

    /** The commands by name, in the order of the help. */
    private static final Map<String, Supplier<Object>> COMMANDS = commands();

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    Iree4jCommand() {}

    private static Map<String, Supplier<Object>> commands() {
        Map<String, Supplier<Object>> commands = new LinkedHashMap<>();
        commands.put("run", RunCommand::new);
        commands.put("benchmark", BenchmarkCommand::new);
        commands.put("check", CheckCommand::new);
        commands.put("batch", BatchCommand::new);
        commands.put("generate", GenerateCommand::new);
        commands.put("trace", TraceCommand::new);
        commands.put("record", RecordCommand::new);
        commands.put("replay", ReplayCommand::new);
        commands.put("explain", ExplainCommand::new);
        commands.put("export", ExportCommand::new);
        commands.put("dump", DumpCommand::new);
        commands.put("asm", AsmCommand::new);
        commands.put("spirv", SpirvCommand::new);
        commands.put("ptx", PtxCommand::new);
        commands.put("hsaco", HsacoCommand::new);
        commands.put("verify", VerifyCommand::new);
        commands.put("devices", DevicesCommand::new);
        commands.put("topology", TopologyCommand::new);
        commands.put("lab", LabCommand::new);
        commands.put("parameters", ParametersCommand::new);
        return commands;
    }

    /**
     * Runs the command and ends the process: status 0 on success, 1 on failure, 2 for invalid usage.
     *
     * @param arguments a subcommand and flags
     */
    public static void main(String[] arguments) {
        PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
        PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        System.exit(execute(out, err, arguments));
    }

    /** Runs the command and returns the exit status. */
    static int execute(PrintWriter out, PrintWriter err, String... given) {
        List<String> arguments;
        try {
            arguments = IreeFlags.redirected(IreeFlags.expanded(List.of(given)));
        } catch (IreeException e) {
            printFailure(err, e);
            err.flush();
            return FAILED;
        }
        CommandLine commandLine = commandLine(arguments)
                .setOut(out)
                .setErr(err)
                .setExpandAtFiles(false) // --input @file.npy names the file's contents, not further flags
                .setExecutionExceptionHandler((e, _, _) -> {
                    out.flush();
                    printFailure(err, e);
                    return FAILED;
                })
                .setParameterExceptionHandler((e, _) -> printMistake(err, e))
                .setOverwrittenOptionsAllowed(true); // by flags after a file of flags
        int status;
        try {
            status = commandLine.execute(accepted(arguments, commandLine));
        } catch (CommandLine.ParameterException e) {
            err.println(e.getMessage());
            status = commandLine.getCommandSpec().exitCodeOnInvalidInput();
        }
        out.flush();
        err.flush();
        return status;
    }

    private static String[] accepted(List<String> arguments, CommandLine commandLine) {
        CommandLine named =
                arguments.isEmpty() ? null : commandLine.getSubcommands().get(arguments.getFirst());
        return (named == null ? arguments : IreeFlags.accepted(arguments, named)).toArray(String[]::new);
    }

    /** Reads the annotations of the named command, else of all commands: reading takes longer than most calls. */
    private static CommandLine commandLine(List<String> arguments) {
        CommandLine all = new CommandLine(new Iree4jCommand());
        Supplier<Object> named = arguments.isEmpty() ? null : COMMANDS.get(arguments.getFirst());
        if (named != null) {
            return all.addSubcommand(named.get());
        }
        COMMANDS.values().forEach(each -> all.addSubcommand(each.get()));
        return all;
    }

    /** Prints a mistake in the flags; of the usage, which would hide the mistake, only where to find it. */
    private static int printMistake(PrintWriter err, CommandLine.ParameterException mistake) {
        CommandLine command = mistake.getCommandLine();
        err.println(mistake.getMessage());
        if (!CommandLine.UnmatchedArgumentException.printSuggestions(mistake, err)) {
            if (command.getParent() == null) {
                command.usage(err);
            } else {
                err.println("'%s --help' lists the flags"
                        .formatted(command.getCommandSpec().qualifiedName()));
            }
        }
        return command.getCommandSpec().exitCodeOnInvalidInput();
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
