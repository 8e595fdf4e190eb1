package io.github.iree4j.lab;

import static io.github.iree4j.lab.Scenario.invalid;

import io.github.iree4j.status.IreeException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;

/**
 * Reads YAML, including JSON, as maps, lists and strings: every scalar is a string, null and ~ are empty. Refuses
 * anchors, tags of an application, several documents, and repeated keys. For untrusted text: no object is constructed
 * from a name in the text, and length and depth are limited.
 */
final class YamlReader {
    /** The longest text, in characters. */
    private static final int MAXIMUM_LENGTH = 16 << 20;

    /** The deepest nesting. */
    private static final int MAXIMUM_DEPTH = 16;

    private YamlReader() {}

    /** Returns a map, a list or a string; INVALID_ARGUMENT with the line when the text is no such YAML. */
    static Object read(String text) {
        if (text.length() > MAXIMUM_LENGTH) {
            throw invalid("the text has %d characters, more than %d".formatted(text.length(), MAXIMUM_LENGTH));
        }
        LoaderOptions options = new LoaderOptions();
        options.setCodePointLimit(MAXIMUM_LENGTH);
        options.setNestingDepthLimit(MAXIMUM_DEPTH);
        try {
            String unmarked = text.startsWith("\uFEFF") ? text.substring(1) : text; // a byte order mark
            Node root = new Yaml(options).compose(new StringReader(unmarked));
            return root == null ? "" : value(root);
        } catch (MarkedYAMLException e) {
            throw at(e.getProblemMark(), String.valueOf(e.getProblem()));
        } catch (YAMLException e) {
            throw invalid(String.valueOf(e.getMessage()));
        }
    }

    private static Object value(Node node) {
        if (node.getAnchor() != null) {
            throw at(node.getStartMark(), "an anchor is not supported");
        }
        if (!node.getTag().startsWith(Tag.PREFIX)) {
            throw at(node.getStartMark(), "tag '%.60s' is not supported".formatted(node.getTag()));
        }
        return switch (node) {
            case MappingNode mapping -> map(mapping);
            case SequenceNode sequence -> {
                List<Object> elements = new ArrayList<>();
                sequence.getValue().forEach(each -> elements.add(value(each)));
                yield elements;
            }
            case ScalarNode scalar -> scalar.getTag().equals(Tag.NULL) ? "" : scalar.getValue();
            default -> throw at(node.getStartMark(), "an alias is not supported");
        };
    }

    private static Map<String, Object> map(MappingNode mapping) {
        Map<String, Object> members = new LinkedHashMap<>();
        for (NodeTuple each : mapping.getValue()) {
            if (!(value(each.getKeyNode()) instanceof String key)) {
                throw at(each.getKeyNode().getStartMark(), "a key is no text");
            }
            if (members.put(key, value(each.getValueNode())) != null) {
                throw at(each.getKeyNode().getStartMark(), "key '%.60s' occurs twice".formatted(key));
            }
        }
        return members;
    }

    private static IreeException at(Mark mark, String problem) {
        return invalid("line %d: %s".formatted(mark.getLine() + 1, problem));
    }
}
