//! Conditions of causes: CEL expressions over questions to the fact base.
//!
//! A call such as `share('zio_*')` is taken out of the expression when it is compiled and becomes a
//! [`Query`]; what is left is compared by CEL. A question without an answer makes the condition
//! unknown, unless the rest decides it (`unknown || true` is true).

use crate::facts::{Query, Reading, ResultKind, Value};
use cel::common::ast::{Expr, IdedExpr, LiteralValue};
use cel::common::types::{CelBool, CelDouble, CelString};
use cel::common::value::CowVal;
use cel::context::VariableResolver;
use cel::parser::{Parser, PrattParser};
use cel::{Context, Env, Value as CelValue};
use rustc_hash::FxHashMap;
use std::sync::{Arc, LazyLock};

/// The operators of CEL; shared, as setting them up costs more than a hundred evaluations.
static LANGUAGE: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// Index into a [`QueryBank`].
pub type QueryId = usize;

/// Every distinct question of all causes.
#[derive(Clone, Debug, Default)]
pub struct QueryBank {
    queries: Vec<Query>,
    ids: FxHashMap<String, QueryId>,
}

impl QueryBank {
    pub fn len(&self) -> usize {
        self.queries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }

    pub fn get(&self, id: QueryId) -> Option<&Query> {
        self.queries.get(id)
    }

    fn add(&mut self, query: Query) -> QueryId {
        *self.ids.entry(query.text()).or_insert_with(|| {
            self.queries.push(query);
            self.queries.len() - 1
        })
    }
}

/// What a condition came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    Yes,
    No,
    Unknown,
}

/// A compiled expression.
#[derive(Clone, Debug)]
pub struct Condition {
    pub text: String,
    /// Its questions, in the order of the text.
    pub queries: Vec<QueryId>,
    expression: IdedExpr,
}

impl Condition {
    /// # Errors
    /// A sentence that says what is wrong with the text.
    pub fn compile(text: &str, bank: &mut QueryBank) -> Result<Condition, String> {
        let mut expression = parse(text)?;
        let mut queries = Vec::new();
        take_queries(&mut expression, bank, &mut queries)?;
        Ok(Condition { text: text.to_owned(), queries, expression })
    }

    /// Evaluates with the answers of a fact base.
    pub fn truth(&self, answers: &dyn Answers) -> Truth {
        match self.value(answers) {
            Some(CelValue::Bool(true)) => Truth::Yes,
            Some(CelValue::Bool(false)) => Truth::No,
            _ => Truth::Unknown,
        }
    }

    /// The figure of an expression of numbers; `None` where an answer is missing.
    pub fn number(&self, answers: &dyn Answers) -> Option<f64> {
        match self.value(answers)? {
            CelValue::Float(n) => Some(n),
            CelValue::Int(n) => Some(n as f64),
            CelValue::UInt(n) => Some(n as f64),
            _ => None,
        }
    }

    fn value(&self, answers: &dyn Answers) -> Option<CelValue> {
        value(&self.expression, answers)
    }

    /// The questions that make it true, in the order of the text: of alternatives only those that hold.
    pub fn reasons(&self, answers: &dyn Answers) -> Vec<QueryId> {
        let mut reasons = Vec::new();
        collect_reasons(&self.expression, answers, &mut reasons);
        reasons
    }

    /// Whether it holds when these questions of truth alone have an answer, which is yes.
    pub fn rests_on(&self, bank: &QueryBank, of: fn(&Query) -> bool) -> bool {
        self.truth(&OnlyYes { bank, of }) == Truth::Yes
    }

    /// Whether the expression is one of truth, given answers of the declared types.
    pub fn is_well_typed(&self, bank: &QueryBank) -> bool {
        let sample = |number: f64| SampleAnswers { bank, number };
        // One of the two may be decided early on the left side of || or &&; both never are.
        [0.0, 1.0].iter().all(|n| matches!(self.value(&sample(*n)), Some(CelValue::Bool(_))))
    }
}

fn value(expression: &IdedExpr, answers: &dyn Answers) -> Option<CelValue> {
    let resolver = Resolver(answers);
    let mut context = Context::with_env(LANGUAGE.clone());
    context.set_variable_resolver(&resolver);
    CelValue::resolve(expression, &context).ok()
}

fn collect_reasons(node: &IdedExpr, answers: &dyn Answers, reasons: &mut Vec<QueryId>) {
    match &node.expr {
        Expr::Call(call) => {
            let alternatives = call.func_name == "_||_";
            for part in call.target.iter().map(|target| &**target).chain(&call.args) {
                if !alternatives || matches!(value(part, answers), Some(CelValue::Bool(true))) {
                    collect_reasons(part, answers, reasons);
                }
            }
        }
        Expr::List(list) => list.elements.iter().for_each(|e| collect_reasons(e, answers, reasons)),
        Expr::Ident(name) => {
            let id = name.strip_prefix('q').and_then(|id| id.parse().ok());
            reasons.extend(id.filter(|id| !reasons.contains(id)));
        }
        _ => {}
    }
}

/// `cel` has two parsers of one grammar: the second takes a tenth of the time, and all conditions
/// are parsed at every start; the first says better what is wrong.
fn parse(text: &str) -> Result<IdedExpr, String> {
    PrattParser::default().parse(text).or_else(|_| Parser::default().parse(text)).map_err(|e| {
        let first = e.errors.first();
        first.map_or_else(|| e.to_string(), |e| format!("column {}: {}", e.pos.1, e.msg))
    })
}

/// Where a condition's questions get their answers.
pub trait Answers: Sync {
    fn answer(&self, id: QueryId) -> Option<Reading>;
}

/// Yes to some questions, no answer to the others.
struct OnlyYes<'a> {
    bank: &'a QueryBank,
    of: fn(&Query) -> bool,
}

impl Answers for OnlyYes<'_> {
    fn answer(&self, id: QueryId) -> Option<Reading> {
        let query = self.bank.get(id).filter(|query| (self.of)(query))?;
        Some(Reading::new(Value::Truth(true), crate::facts::Quality::Counted, query.text()))
    }
}

struct SampleAnswers<'a> {
    bank: &'a QueryBank,
    number: f64,
}

impl Answers for SampleAnswers<'_> {
    fn answer(&self, id: QueryId) -> Option<Reading> {
        let value = match self.bank.get(id)?.signature().result {
            ResultKind::Share | ResultKind::Number | ResultKind::Any => Value::Number(self.number),
            ResultKind::Truth => Value::Truth(self.number > 0.0),
            ResultKind::Text => Value::Text(String::new()),
        };
        Some(Reading::new(value, crate::facts::Quality::Counted, ""))
    }
}

struct Resolver<'a>(&'a dyn Answers);

impl VariableResolver for Resolver<'_> {
    fn resolve<'b>(&'b self, name: &str) -> Option<CowVal<'b, 'b>> {
        let id = name.strip_prefix('q')?.parse().ok()?;
        Some(match self.0.answer(id)?.value {
            Value::Number(n) => CowVal::owned(CelDouble::from(n)),
            Value::Truth(b) => CowVal::owned(CelBool::from(b)),
            Value::Text(s) => CowVal::owned(CelString::from(s)),
        })
    }
}

/// Replaces calls by variables, and whole numbers by doubles, as every answer is one.
fn take_queries(node: &mut IdedExpr, bank: &mut QueryBank, out: &mut Vec<QueryId>) -> Result<(), String> {
    match &mut node.expr {
        Expr::Literal(literal) => {
            if let LiteralValue::Int(int) = literal {
                *literal = LiteralValue::Double(CelDouble::from(*int.inner() as f64));
            }
            Ok(())
        }
        Expr::List(list) => list.elements.iter_mut().try_for_each(|e| take_queries(e, bank, out)),
        Expr::Call(call) if is_operator(&call.func_name) => {
            call.target.iter_mut().try_for_each(|t| take_queries(t, bank, out))?;
            call.args.iter_mut().try_for_each(|a| take_queries(a, bank, out))
        }
        Expr::Call(call) => {
            if call.target.is_some() {
                return Err(format!("`.{}(…)` is not part of the condition language", call.func_name));
            }
            let arguments: Result<Vec<String>, String> = call.args.iter().map(literal_text).collect();
            let id = bank.add(Query::new(&call.func_name, arguments?)?);
            if !out.contains(&id) {
                out.push(id);
            }
            node.expr = Expr::Ident(format!("q{id}"));
            Ok(())
        }
        Expr::Ident(name) => Err(format!("`{name}` is no value; text is written in quotes")),
        _ => Err("only comparisons, &&, ||, !, ?: and arithmetic over questions are allowed".to_owned()),
    }
}

/// Functions that a text compares with a plain number, and the number; nothing of a broken text.
pub fn comparisons(text: &str) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    if let Ok(expression) = parse(text) {
        collect_comparisons(&expression, &mut found);
    }
    found
}

fn collect_comparisons(node: &IdedExpr, found: &mut Vec<(String, f64)>) {
    let Expr::Call(call) = &node.expr else { return };
    call.args.iter().for_each(|a| collect_comparisons(a, found));
    if !matches!(call.func_name.as_str(), "_>_" | "_>=_" | "_<_" | "_<=_") {
        return;
    }
    for (question, figure) in [(0, 1), (1, 0)] {
        let (Some(question), Some(figure)) = (call.args.get(question), call.args.get(figure)) else { return };
        let number = match &figure.expr {
            Expr::Literal(LiteralValue::Int(n)) => *n.inner() as f64,
            Expr::Literal(LiteralValue::Double(n)) => *n.inner(),
            _ => continue,
        };
        if let Expr::Call(question) = &question.expr {
            found.push((question.func_name.clone(), number));
        }
    }
}

/// CEL names its operators with signs and underscores: `_>_`, `!_`, `@in`.
fn is_operator(name: &str) -> bool {
    name.starts_with(['_', '!', '-', '@'])
}

fn literal_text(argument: &IdedExpr) -> Result<String, String> {
    match &argument.expr {
        Expr::Literal(LiteralValue::String(text)) => Ok(text.inner().to_string()),
        _ => Err("arguments are texts in quotes".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Quality;

    struct Fixed(Vec<Option<Value>>);

    impl Answers for Fixed {
        fn answer(&self, id: QueryId) -> Option<Reading> {
            let value = self.0.get(id)?.clone()?;
            Some(Reading::new(value, Quality::Counted, ""))
        }
    }

    fn truth(text: &str, answers: &[Option<f64>]) -> Truth {
        let mut bank = QueryBank::default();
        let condition = Condition::compile(text, &mut bank).unwrap();
        condition.truth(&Fixed(answers.iter().map(|a| a.map(Value::Number)).collect()))
    }

    #[test]
    fn what_is_unknown_stays_unknown_unless_the_rest_decides() {
        let (yes, no, unknown) = (Truth::Yes, Truth::No, Truth::Unknown);
        for (text, answers, expected) in [
            ("share('a') > 0.5", vec![Some(0.6)], yes),
            ("share('a') > 0.5", vec![None], unknown),
            ("share('a') > 1 || share('b') > 0", vec![None, Some(1.0)], yes),
            ("share('b') > 0 || share('a') > 1", vec![Some(1.0), None], yes),
            ("share('a') > 1 || share('b') > 0", vec![None, Some(0.0)], unknown),
            ("share('a') > 1 && share('b') > 0", vec![None, Some(0.0)], no),
            ("!(share('a') > 1)", vec![None], unknown),
            ("rate('s','a') / rate('s','b') >= 2", vec![Some(4.0), Some(2.0)], yes),
            ("rate('s','a') > rate('s','b') * 2 - 1", vec![Some(4.0), Some(2.0)], yes),
            ("share('a') > -1 ? true : false", vec![Some(0.0)], yes),
        ] {
            assert_eq!(truth(text, &answers), expected, "{text} {answers:?}");
        }
    }

    #[test]
    fn of_alternatives_those_that_hold_are_the_reasons() {
        let mut bank = QueryBank::default();
        let text =
            "share('a') > 0.5 && (share('b') > 0.5 || share('c') > 0.5 || share('d') > 0.5 && seen('e'))";
        let condition = Condition::compile(text, &mut bank).unwrap();
        let reasons = |answers: [Option<f64>; 5]| {
            let mut answers: Vec<_> = answers.iter().map(|a| a.map(Value::Number)).collect();
            answers[4] = answers[4].take().map(|_| Value::Truth(true));
            condition.reasons(&Fixed(answers))
        };
        assert_eq!(reasons([Some(0.9), Some(0.1), Some(0.8), None, None]), [0, 2]);
        assert_eq!(reasons([Some(0.9), Some(0.6), Some(0.8), Some(0.7), Some(1.0)]), [0, 1, 2, 3, 4]);
        assert_eq!(reasons([Some(0.9), None, None, Some(0.7), Some(1.0)]), [0, 3, 4]);
    }

    /// Kleene's tables: unknown stays unknown exactly where another value could change the result.
    #[test]
    fn every_combination_of_three_truths_is_right() {
        let values = [Some(1.0), Some(0.0), None];
        let all = |a: Option<f64>, f: &dyn Fn(bool) -> Truth| {
            let results = a.map_or(vec![true, false], |a| vec![a > 0.0]).into_iter().map(f);
            results.reduce(|x, y| if x == y { x } else { Truth::Unknown }).unwrap()
        };
        let truth_of = |b: bool| if b { Truth::Yes } else { Truth::No };
        for a in values {
            for b in values {
                for c in values {
                    type Rule = fn(bool, bool, bool) -> bool;
                    let rules: [(&str, Rule); 4] = [
                        ("share('a') > 0 || share('b') > 0 || share('c') > 0", |a, b, c| a || b || c),
                        ("share('a') > 0 && share('b') > 0 && share('c') > 0", |a, b, c| a && b && c),
                        ("(share('a') > 0 || share('b') > 0) && share('c') > 0", |a, b, c| (a || b) && c),
                        ("share('a') > 0 && share('b') > 0 || !(share('c') > 0)", |a, b, c| a && b || !c),
                    ];
                    for (text, rule) in rules {
                        let expected = all(a, &|a| all(b, &|b| all(c, &|c| truth_of(rule(a, b, c)))));
                        assert_eq!(truth(text, &[a, b, c]), expected, "{text} {a:?} {b:?} {c:?}");
                    }
                }
            }
        }
    }

    /// Both parsers, ids of nodes aside: those are counted differently and mean nothing here.
    #[test]
    fn the_fast_parser_reads_every_condition_as_the_other() {
        fn shape(node: &IdedExpr) -> String {
            match &node.expr {
                Expr::Call(call) => {
                    let args: Vec<String> =
                        call.target.iter().map(|t| &**t).chain(&call.args).map(shape).collect();
                    format!("{}({})", call.func_name, args.join(" "))
                }
                Expr::List(list) => format!("{:?}", list.elements.iter().map(shape).collect::<Vec<_>>()),
                other => format!("{other:?}"),
            }
        }
        let knowledge = crate::Knowledge::embedded();
        let signs = knowledge.causes.iter().flat_map(|c| c.signs.iter().chain(&c.against)).map(|s| &s.when);
        let alike =
            knowledge.causes.iter().flat_map(|c| &c.look_alikes).filter_map(|l| l.ruled_out_when.as_ref());
        let texts: Vec<&str> = signs.chain(alike).map(|c| c.text.as_str()).collect();
        assert!(texts.len() > 100);
        for text in texts {
            let (fast, other) = (PrattParser::default().parse(text), Parser::default().parse(text));
            assert_eq!(shape(&fast.unwrap()), shape(&other.unwrap()), "{text}");
        }
    }

    #[test]
    fn comparisons_with_numbers_are_found() {
        assert_eq!(
            comparisons("share('a') > 5 && (0.1 < rate('s', 'n') || !(busy() >= 2))"),
            [("share".to_owned(), 5.0), ("rate".to_owned(), 0.1), ("busy".to_owned(), 2.0)]
        );
        assert!(comparisons("share('a'").is_empty());
    }

    #[test]
    fn mistakes_are_found_when_compiling() {
        for (text, says) in [
            ("shares('a') > 1", "no function is called `shares`"),
            ("share('a', 'b') > 1", "takes 1 arguments, not 2"),
            ("share(a) > 1", "texts in quotes"),
            ("foo > 1", "`foo` is no value"),
            ("share('a' > 1", "column 14"),
            ("zfs('0.8') && true", "not a version requirement"),
            ("share('') > 1", "empty argument"),
            ("['a'].exists(x, x == 'a')", "only comparisons"),
        ] {
            let error = Condition::compile(text, &mut QueryBank::default()).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn types_are_checked_without_evidence() {
        let mut bank = QueryBank::default();
        for (text, good) in [
            ("share('a') > 0.1 && seen('b')", true),
            ("chosen('icp_aes_impl') == 'generic'", true),
            ("chosen('icp_aes_impl') in ['generic', 'x86_64']", true),
            ("share('a')", false),
            ("seen('a') > 1", false),
            ("seen('a') && chosen('b')", false),
        ] {
            let condition = Condition::compile(text, &mut bank).unwrap();
            assert_eq!(condition.is_well_typed(&bank), good, "{text}");
        }
    }

    #[test]
    fn equal_questions_are_asked_once() {
        let mut bank = QueryBank::default();
        let a = Condition::compile("share('a') > 0.1 && share('a') < 0.5", &mut bank).unwrap();
        let b = Condition::compile("share('a') > 0.3", &mut bank).unwrap();
        assert_eq!((bank.len(), a.queries.len(), a.queries == b.queries), (1, 1, true));
    }
}
