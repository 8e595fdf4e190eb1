package io.github.iree4j.flight;

import java.util.List;
import java.util.stream.Collectors;

/** The problems of a recording as JSON: an array of objects with the components of {@link RecordedProblem}. */
final class ProblemsExport {
    private ProblemsExport() {}

    static String json(OperationGraph graph) {
        StringBuilder text = new StringBuilder("{\"problems\":");
        write(new Explanation(graph).problems(), text);
        return text.append("}\n").toString();
    }

    static void write(List<RecordedProblem> problems, StringBuilder target) {
        String separator = "";
        target.append('[');
        for (RecordedProblem each : problems) {
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
