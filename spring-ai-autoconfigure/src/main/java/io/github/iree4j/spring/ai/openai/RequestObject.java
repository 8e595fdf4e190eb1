package io.github.iree4j.spring.ai.openai;

import io.github.iree4j.spring.http.JsonBody;
import io.github.iree4j.status.IreeException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * An object in a request. A member that is JSON's null counts as absent. Members that nobody has asked for are refused by
 * {@link #refuseOthers}: a parameter without effect would give another answer than the client expects. Not thread-safe.
 */
final class RequestObject {

    /** Memory of the tree for each byte of JSON: objects of few bytes take the most. */
    static final int WEIGHT = 32;

    private static final int MAX_NESTING = 100;
    private static final int MAX_NUMBER = 100;
    private static final int MAX_NAME = 1024;

    /** Names are not cached, since a body may have millions; strings are as long as bodies may be. */
    private static final JsonMapper JSON = JsonMapper.builder(JsonFactory.builder()
                    .disable(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES)
                    .disable(StreamReadFeature.AUTO_CLOSE_SOURCE)
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(MAX_NESTING)
                            .maxNumberLength(MAX_NUMBER)
                            .maxNameLength(MAX_NAME)
                            .maxStringLength(Integer.MAX_VALUE)
                            .build())
                    .build())
            .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final JsonNode object;
    private final String path;
    private final Set<String> known = new HashSet<>();

    private RequestObject(JsonNode object, String path) {
        this.object = object;
        this.path = path;
    }

    /**
     * Reads the body of a request.
     *
     * @param body not closed
     * @throws IreeException INVALID_ARGUMENT when the body is no object, or has texts that are no Unicode
     * @throws tools.jackson.core.JacksonException when the body is no JSON
     */
    static RequestObject read(InputStream body) {
        JsonNode root = JSON.readTree(JsonBody.reader(body));
        if (!root.isObject()) {
            throw RequestFault.invalid(null, "the body must be a JSON object");
        }
        checkTexts(root);
        return new RequestObject(root, "");
    }

    /** Refuses numbers that would be written as texts. */
    void checkNumbers(String member, JsonNode node) {
        if (node.isDouble() && !Double.isFinite(node.doubleValue())) {
            throw invalid(member, "has a number beyond the numbers of doubles");
        }
        node.forEach(each -> checkNumbers(member, each));
    }

    /** An unpaired surrogate is no character, and has no bytes in UTF-8. */
    private static void checkTexts(JsonNode node) {
        if (node.isString()) {
            checkText(node.stringValue());
        }
        for (Map.Entry<String, JsonNode> member : node.properties()) {
            checkText(member.getKey());
        }
        node.forEach(RequestObject::checkTexts);
    }

    private static void checkText(String text) {
        for (int i = 0; i < text.length(); i++) {
            char next = text.charAt(i);
            if (Character.isSurrogate(next)) {
                if (!Character.isHighSurrogate(next)
                        || i + 1 == text.length()
                        || !Character.isLowSurrogate(text.charAt(++i))) {
                    throw RequestFault.invalid(
                            null,
                            "a text has an unpaired surrogate, \\u%04x; write characters beyond U+FFFF as pairs"
                                    .formatted((int) next));
                }
            }
        }
    }

    /** Returns the name of a member in messages. */
    String name(String member) {
        return path.isEmpty() ? member : path + "." + member;
    }

    IreeException invalid(String member, String text) {
        return RequestFault.invalid(name(member), "'%s' %s".formatted(name(member), text));
    }

    /** Returns a member; null when absent. */
    @Nullable
    JsonNode get(String member) {
        known.add(member);
        JsonNode value = object.get(member);
        return value == null || value.isNull() ? null : value;
    }

    /** Accepts members whatever their values: they change no answer. */
    void ignore(Set<String> members) {
        known.addAll(members);
    }

    /** Refuses a member unless absent. */
    void refuse(String member, String why) {
        if (get(member) != null) {
            throw invalid(member, why);
        }
    }

    /** Refuses the members that nobody has asked for. */
    void refuseOthers() {
        for (Map.Entry<String, JsonNode> member : object.properties()) {
            if (!known.contains(member.getKey()) && !member.getValue().isNull()) {
                String shown = name(RequestFault.shortened(member.getKey()));
                throw RequestFault.invalid(shown, "'%s' is not supported here; leave it out".formatted(shown));
            }
        }
    }

    @Nullable
    String text(String member) {
        JsonNode value = get(member);
        if (value != null && !value.isString()) {
            throw invalid(member, "must be a string");
        }
        return value == null ? null : value.stringValue();
    }

    String requireText(String member) {
        String text = text(member);
        if (text == null) {
            throw invalid(member, "is missing; give a string");
        }
        return text;
    }

    boolean flag(String member, boolean otherwise) {
        JsonNode value = get(member);
        if (value != null && !value.isBoolean()) {
            throw invalid(member, "must be true or false");
        }
        return value == null ? otherwise : value.booleanValue();
    }

    /** Returns a number within limits; null when absent. */
    @Nullable
    Double number(String member, double least, double most) {
        JsonNode value = get(member);
        if (value == null) {
            return null;
        }
        double number = value.isNumber() ? value.asDouble(Double.NaN) : Double.NaN;
        if (!(number >= least && number <= most)) {
            throw invalid(member, "must be a number from %s to %s".formatted(shown(least), shown(most)));
        }
        return number;
    }

    private static String shown(double limit) {
        return limit == Math.rint(limit) ? String.valueOf((long) limit) : String.valueOf(limit);
    }

    /** Returns a whole number within limits; null when absent. */
    @Nullable
    Long whole(String member, long least, long most) {
        JsonNode value = get(member);
        if (value == null) {
            return null;
        }
        if (!value.isIntegralNumber()
                || !value.canConvertToLong()
                || value.longValue() < least
                || value.longValue() > most) {
            throw invalid(member, "must be a whole number from %d to %d".formatted(least, most));
        }
        return value.longValue();
    }

    /** Returns the elements of a list of limited length; null when absent. */
    @Nullable
    List<JsonNode> list(String member, int most) {
        JsonNode value = get(member);
        if (value == null) {
            return null;
        }
        if (!value.isArray()) {
            throw invalid(member, "must be a list");
        }
        if (value.size() > most) {
            throw invalid(member, "has %d elements, of at most %d".formatted(value.size(), most));
        }
        return List.copyOf(value.values());
    }

    /** Returns an object; null when absent. */
    @Nullable
    RequestObject object(String member) {
        JsonNode value = get(member);
        return value == null ? null : of(value, name(member));
    }

    /** Returns the objects in a list of limited length; null when absent. */
    @Nullable
    List<RequestObject> objects(String member, int most) {
        List<JsonNode> values = list(member, most);
        if (values == null) {
            return null;
        }
        List<RequestObject> objects = new ArrayList<>(values.size());
        for (JsonNode value : values) {
            objects.add(of(value, name(member) + "[" + objects.size() + "]"));
        }
        return objects;
    }

    private static RequestObject of(JsonNode value, String path) {
        if (!value.isObject()) {
            throw RequestFault.invalid(path, "'%s' must be an object".formatted(path));
        }
        return new RequestObject(value, path);
    }

    /** Returns the members of an object as Java's maps, lists, texts and numbers; null when absent. */
    @Nullable
    Map<?, ?> map(String member) {
        JsonNode value = get(member);
        if (value == null) {
            return null;
        }
        if (!value.isObject()) {
            throw invalid(member, "must be an object");
        }
        checkNumbers(member, value);
        return JSON.treeToValue(value, Map.class);
    }

    /** Returns the object that a text holds as JSON; empty for an empty text. */
    Map<?, ?> parsed(String member) {
        String text = requireText(member);
        JsonNode value = null;
        try {
            value = JSON.readTree(text.isBlank() ? "{}" : text);
            checkTexts(value);
        } catch (tools.jackson.core.JacksonException e) {
            // as for any other text
        }
        if (value == null || !value.isObject()) {
            throw invalid(member, "must be a string with a JSON object");
        }
        checkNumbers(member, value);
        return JSON.treeToValue(value, Map.class);
    }
}
