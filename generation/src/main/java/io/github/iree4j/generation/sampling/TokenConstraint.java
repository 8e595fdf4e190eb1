package io.github.iree4j.generation.sampling;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;

/**
 * A rule for the text of an answer: a regular expression or a JSON schema. Tokens that the rule excludes are not chosen.
 * The rule is an automaton over the bytes of the text; a rule whose automaton is too large is rejected.
 *
 * <p>A constraint may be shared: requests with the same constraint find the sets of tokens that other requests computed, of
 * at most 16 MiB. Thread-safe.
 */
public final class TokenConstraint {
    private static final int MOST_BYTES = 16 << 20;

    private final TokenVocabulary vocabulary;
    private final ByteAutomaton automaton;
    private final ReentrantLock lock = new ReentrantLock();
    private final int[] kinds; // of states: the same tokens follow states of a kind
    private final Map<Integer, long[]> following = new LinkedHashMap<>(16, 0.75f, true); // guarded by lock; by kind

    private TokenConstraint(TokenVocabulary vocabulary, String what, Expression expression) {
        this.vocabulary = vocabulary;
        this.automaton = ByteAutomaton.of(what, expression);
        this.kinds = automaton.kinds(vocabulary.longest());
        if (IntStream.range(0, 256).allMatch(each -> automaton.next(ByteAutomaton.START, each) == ByteAutomaton.DEAD)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "the %s allows the empty text only; an answer has a token".formatted(what));
        }
    }

    /**
     * Creates a constraint from a regular expression in the syntax of ECMAScript with the flag {@code u}. The whole text
     * matches the expression.
     *
     * @param vocabulary the texts of the model's tokens
     * @param pattern at most 8192 characters, without lookahead, lookbehind, word boundaries, references, properties and
     *     flags; anchors at the ends only
     * @return the constraint
     * @throws IreeException INVALID_ARGUMENT for another syntax, naming the place, or an automaton that is too large
     */
    public static TokenConstraint regex(TokenVocabulary vocabulary, String pattern) {
        return new TokenConstraint(vocabulary, "regular expression", RegularExpression.whole(pattern));
    }

    /**
     * Creates a constraint from a JSON schema: the text is an instance, on a line, whose properties are the properties of
     * the schema in their order.
     *
     * @param vocabulary the texts of the model's tokens
     * @param schema at most 65536 characters
     * @return the constraint
     * @throws IreeException INVALID_ARGUMENT for unsupported keywords, naming the place, or an automaton that is too large
     */
    public static TokenConstraint jsonSchema(TokenVocabulary vocabulary, String schema) {
        return new TokenConstraint(vocabulary, "JSON schema", JsonSchema.read(schema));
    }

    /**
     * Creates a constraint for any JSON object on a line, with at most 6 objects and arrays in each other.
     *
     * @param vocabulary the texts of the model's tokens
     * @return the constraint
     */
    public static TokenConstraint jsonObject(TokenVocabulary vocabulary) {
        return new TokenConstraint(vocabulary, "JSON object", JsonSchema.anyObject());
    }

    /** Returns the texts of the model's tokens. */
    public TokenVocabulary vocabulary() {
        return vocabulary;
    }

    ByteAutomaton automaton() {
        return automaton;
    }

    /** Returns the size of the kept sets; called with the lock, or by tests. */
    long keptBytes() {
        return (long) following.size() * Math.ceilDiv(vocabulary.size(), Long.SIZE) * Long.BYTES;
    }

    /** Returns the tokens whose texts may follow in a state, a set of bits; not to be changed. */
    long[] following(int state) {
        int kind = kinds[state];
        lock.lock();
        try {
            long[] known = following.get(kind);
            if (known != null) {
                return known;
            }
        } finally {
            lock.unlock();
        }
        long[] computed = vocabulary.following(automaton, state);
        lock.lock();
        try {
            following.put(kind, computed);
            if (keptBytes() > MOST_BYTES) {
                following.remove(following.keySet().iterator().next());
            }
        } finally {
            lock.unlock();
        }
        return computed;
    }
}
