package a.b; // here

/** @deprecated use {@link Other} */
class Queue {
    /* plain */ private static final String SQL = """
        select "//" from t \""" -- 'x'
        """;
    char quote = '"', tab = '\t';
	int size() { return "/* none */".length() / 2; } // \u00e9
}
