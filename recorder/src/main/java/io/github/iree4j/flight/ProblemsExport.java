package io.github.iree4j.flight;

import java.util.List;
import java.util.stream.Collectors;

/**
 * The problems of a recording as JSON: an array of objects with the components of {@link RecordedProblem}, and the number of
 * problems left out.
 */
final class ProblemsExport {
    private ProblemsExport() {}

    static String json(OperationGraph graph) {
        List<RecordedProblem> problems = new Explanation(graph).allProblems();
        StringBuilder text = new StringBuilder("{\"problems\":");
        write(problems, text);
        text.append(",\"problemsLeftOut\":").append(leftOut(problems));
        return text.append("}\n").toString();
    }

    /** Returns the number of problems left out. */
    static int leftOut(List<RecordedProblem> problems) {
        return problems.size() - Explanation.first(problems).size();
    }

    /** Writes an array of the first problems. */
    static void write(List<RecordedProblem> problems, StringBuilder target) {
        String separator = "";
        target.append('[');
        for (RecordedProblem each : Explanation.first(problems)) {
            target.append(separator).append("\n{\"kind\":");
            separator = ",";
            JsonText.quote(each.kind(), target);
            target.append(",\"summary\":");
            JsonText.quote(each.summary(), target);
            target.append(",\"age\":").append(each.age());
            target.append(",\"calls\":[")
                    .append(each.calls().stream().map(String::valueOf).collect(Collectors.joining(",")))
                    .append(']');
            target.append(",\"links\":");
            JsonText.quote(each.links(), target);
            target.append(",\"chain\":");
            JsonText.quote(each.chain(), target);
            target.append(",\"remedy\":");
            JsonText.quote(each.remedy(), target);
            target.append('}');
        }
        target.append(']');
    }
}
