package io.github.iree4j.tools.lab;

import io.github.iree4j.lab.Laboratory;
import io.github.iree4j.lab.Scenario;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code iree4j lab list}: lists the scenarios supplied with the runtime. */
@Command(
        name = "list",
        description = "Lists the scenarios supplied with the runtime, and the ways to scale each.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class LabListCommand implements Runnable {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    LabListCommand() {}

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        for (Scenario each : Laboratory.scenarios()) {
            String scales = "width" + (each.canRepeat() ? ", depth" : "") + (each.isScalable() ? ", lanes" : "");
            out.println("%-22s %s (%s)".formatted(each.id(), each.label(), scales));
        }
    }
}
